--- `:Azimuth trust`: whether what the project's folder supplies may run, and what it allows counts.

local client = require("azimuth.client")
local config = require("azimuth.config")
local protocol = require("azimuth.generated.protocol")

local M = {}

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

---@return string
local function folder()
  return vim.fn.fnamemodify(client.root(), ":~")
end

---@param result azimuth.WorkspaceTrustResult
---@return string
local function told(result)
  if result.trusted then
    return ("%s is trusted: what it supplies may run, and what it allows counts."):format(folder())
  elseif result.decided then
    return ("%s is not trusted: nothing that it supplies runs on its own, and what it allows does not count."):format(folder())
  end
  return ("nobody has said yet whether %s is trusted; until then it is not, and the next turn asks."):format(folder())
end

---@param trusted? boolean Without it, nothing is changed.
---@param callback fun(result: azimuth.WorkspaceTrustResult)
local function request(trusted, callback)
  client.request(protocol.requests.workspace_trust, { trusted = trusted }, function(err, result)
    if err then
      say(err.message, vim.log.levels.ERROR)
    else
      callback(result)
    end
  end)
end

---@param trusted boolean
local function set(trusted)
  request(trusted, function(result)
    say(told(result))
    require("azimuth.beginnings").trusted()
    -- It is kept, but what the editor says at its start counts more.
    if result.trusted ~= trusted and config.values.trust ~= nil then
      say("the setting `trust` of setup() says otherwise, and takes precedence.", vim.log.levels.WARN)
    end
  end)
end

--- Returns what the server is told of trust when it starts; nil if it is to ask.
---@return "trusted"|"restricted"|nil
function M.option()
  local trust = config.values.trust
  if trust == nil then
    return nil
  end
  return trust and "trusted" or "restricted"
end

--- Runs `:Azimuth trust`.
---@param words table
function M.command(words)
  local said = words[2]
  if said == "yes" or said == "no" then
    set(said == "yes")
  elseif said then
    say(("there is no :Azimuth trust %s; there are yes and no."):format(said), vim.log.levels.ERROR)
  else
    request(nil, function(result)
      vim.ui.select({ true, false }, {
        prompt = "Azimuth: " .. told(result),
        kind = "azimuth.trust",
        format_item = function(trusted)
          return trusted and "Trust this folder" or "Do not trust it"
        end,
      }, function(trusted)
        if trusted ~= nil then
          set(trusted)
        end
      end)
    end)
  end
end

return M
