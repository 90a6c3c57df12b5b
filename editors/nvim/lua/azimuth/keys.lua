--- Keys of model vendors: asked for once, kept in a file that only the user can read, handed to the server by its environment.
---
--- A key is never in a setting, a message or a log.

local config = require("azimuth.config")

local M = {}

---@type azimuth.Vendor[]
M.vendors = require("azimuth.generated.vendors")

---@return string
function M.path()
  return config.file("data", "keys.json")
end

---@return table<string, string> keys By variable; empty without a file.
---@return string? problem
local function load()
  local text = config.read(M.path())
  if not text then
    return {}
  end
  local ok, keys = pcall(vim.json.decode, text)
  if not ok or type(keys) ~= "table" then
    return {}, ("%s cannot be understood. Remove it, then :Azimuth key."):format(M.path())
  end
  local known = {}
  for _, vendor in ipairs(M.vendors) do
    if type(keys[vendor.variable]) == "string" then
      known[vendor.variable] = keys[vendor.variable]
    end
  end
  return known
end

--- The variables to start the server with. What the user's environment says counts more.
---@return table<string, string>
function M.environment()
  local keys, problem = load()
  if problem then
    vim.notify("Azimuth: " .. problem, vim.log.levels.WARN)
  end
  for variable in pairs(keys) do
    if vim.env[variable] then
      keys[variable] = nil
    end
  end
  return keys
end

--- The variables that have a stored key, for `:checkhealth`.
---@return string[] variables
---@return string? problem
function M.stored()
  local keys, problem = load()
  local variables = vim.tbl_keys(keys)
  table.sort(variables)
  return variables, problem
end

--- Stores a key, or takes it away.
---@param variable string
---@param key? string
---@return string? problem
function M.store(variable, key)
  local keys, problem = load()
  if problem then
    return problem
  end
  keys[variable] = key
  local text = next(keys) and vim.json.encode(keys) or "{}"
  local ok, why = config.write_private(M.path(), text)
  return not ok and ("The key could not be stored in %s: %s"):format(M.path(), why) or nil
end

--- Asks for a key with a hidden prompt, stores it and starts the server anew with it.
---@param done? fun(stored: boolean)
function M.ask(done)
  done = done or function() end
  local function pick(choice)
    if not choice then
      vim.notify(
        "Azimuth needs a model. Set a key in the environment, such as ANTHROPIC_API_KEY, before you start Neovim; or :Azimuth key.",
        vim.log.levels.WARN
      )
      return done(false)
    end
    local key = vim.trim(vim.fn.inputsecret(("Key for %s (kept in a file that only you can read): "):format(choice.name)))
    vim.cmd.redraw()
    if key == "" then
      return done(false)
    end
    local problem = M.store(choice.variable, key)
    if problem then
      vim.notify("Azimuth: " .. problem, vim.log.levels.ERROR)
      return done(false)
    end
    require("azimuth.client").restart()
    done(true)
  end
  vim.ui.select(M.vendors, {
    prompt = "Azimuth: whose key do you have?",
    format_item = function(vendor)
      return ("%s (%s)"):format(vendor.name, vendor.variable)
    end,
  }, pick)
end

return M
