--- The parts that the tests share: a real Neovim as a child, driven by keys, with the plugin, the server and a model.

local M = {}

local here = vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p"))
M.plugin = vim.fs.dirname(here)

--- The server to test with.
---@return string
function M.server()
  return assert(vim.env.AZIMUTH_SERVER, "set AZIMUTH_SERVER to the server program, `azimuth`")
end

---@param path string
---@param text string
function M.write(path, text)
  vim.fn.mkdir(vim.fs.dirname(path), "p")
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

---@param path string
---@return string
function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

---@class Place
---@field home string Of the user, empty.
---@field project string A small project.

---@type string[]
local made = {}

--- Removes all places.
function M.clean()
  for _, top in ipairs(made) do
    vim.fn.delete(top, "rf")
  end
end

--- A home and a project of their own.
---@param files? table<string, string>
---@param name? string Of the project's folder.
---@return Place
function M.place(files, name)
  local top = vim.uv.fs_realpath(assert(vim.uv.fs_mkdtemp(vim.fs.joinpath(vim.uv.os_tmpdir(), "azimuth-XXXXXX")))) --[[@as string]]
  table.insert(made, top)
  local place = { home = top .. "/home", project = top .. "/" .. (name or "project") }
  vim.fn.mkdir(place.home, "p")
  vim.fn.mkdir(place.project .. "/.git", "p")
  for path, text in pairs(files or {}) do
    M.write(vim.fs.joinpath(place.project, path), text)
  end
  return place
end

--- Tells the server of a home to use a model.
---@param place Place
---@param model Model
---@param more? string Further lines of `config.toml`, before its tables.
---@param names? string[] The models of its chain, only `m` without them.
function M.use_model(place, model, more, names)
  names = names or { "m" }
  local chain = vim.iter(names):map(function(name)
    return "test/" .. name
  end):join(", ")
  local lines = 'model = "%s"\n%s\n[providers.test]\nbase_url = "%s"\nkey = "k"\nwire = "openai-chat"\nmodels = %s\n'
  M.write(place.home .. "/config/azimuth/config.toml", lines:format(chain, more or "", model.url, vim.json.encode(names)))
end

--- The environment of a program that must not touch the user's own files.
---@param place Place
---@return table<string, string>
function M.environment(place)
  return {
    HOME = place.home,
    PATH = vim.env.PATH,
    TERM = "xterm-256color",
    LANG = "C.UTF-8",
    VIMRUNTIME = vim.env.VIMRUNTIME,
    XDG_CONFIG_HOME = place.home .. "/config",
    XDG_DATA_HOME = place.home .. "/data",
    XDG_STATE_HOME = place.home .. "/state",
    XDG_CACHE_HOME = place.home .. "/cache",
    XDG_RUNTIME_DIR = place.home,
    NVIM_LOG_FILE = place.home .. "/nvim.log",
    AZIMUTH_SERVER = M.server(),
  }
end

---@class Child
---@field channel integer
local Child = {}
Child.__index = Child

--- Starts a Neovim with the plugin, in the project, whose folder is trusted unless the test is about being asked.
---@param place Place
---@param options? { setup?: string, asks_trust?: boolean, columns?: integer, lines?: integer, environment?: table<string, string> }
---@return Child
function M.start(place, options)
  options = options or {}
  local environment = vim.tbl_extend("force", M.environment(place), options.environment or {})
  local channel = vim.fn.jobstart({ vim.v.progpath, "--clean", "--headless", "--embed" }, {
    rpc = true,
    cwd = place.project,
    env = environment,
    clear_env = true,
  })
  local child = setmetatable({ channel = channel }, Child)
  child:lua(([[
    vim.o.columns, vim.o.lines = %d, %d
    vim.o.swapfile, vim.o.shadafile = false, "NONE"
    vim.g.mapleader = " "
    vim.opt.runtimepath:prepend(%q)
    _G.said = {}
    vim.notify = function(message, level) table.insert(_G.said, { message, level or 2 }) end
    require("azimuth").setup(vim.tbl_deep_extend("force", { cmd = { vim.env.AZIMUTH_SERVER, "lsp" }, trust = %s }, %s))
    vim.cmd("runtime plugin/azimuth.lua")
  ]]):format(
    options.columns or 120,
    options.lines or 40,
    M.plugin,
    options.asks_trust and "nil" or "true",
    options.setup or "{}"
  ))
  return child
end

--- Runs Lua in the child and gives what it returns.
---@param code string
---@return any
function Child:lua(code, ...)
  return vim.rpcrequest(self.channel, "nvim_exec_lua", code, { ... })
end

--- Types keys.
---@param keys string
function Child:type(keys)
  vim.rpcrequest(self.channel, "nvim_input", keys)
end

---@param command string
function Child:command(command)
  vim.rpcrequest(self.channel, "nvim_command", command)
end

--- Waits until the Lua expression in the child is true.
---@param expression string
---@param within? integer Milliseconds.
---@return any value
function Child:wait(expression, within)
  local value
  local ok = vim.wait(within or 10000, function()
    value = self:lua("return " .. expression)
    return value ~= nil and value ~= vim.NIL and value ~= false
  end, 10)
  if not ok then
    error(("waited in vain for: %s\nthe transcript:\n%s\nmessages:\n%s"):format(
      expression,
      self:transcript(),
      vim.inspect(self:lua("return _G.said"))
    ), 2)
  end
  return value
end

--- The text of the transcript.
---@return string
function Child:transcript()
  return self:lua([[
    local bufnr = vim.fn.bufnr("azimuth://chat")
    return bufnr > 0 and table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n") or ""
  ]])
end

--- Waits until the transcript holds a text.
---@param text string
---@param within? integer
function Child:wait_for(text, within)
  self:wait(([[(function()
    local bufnr = vim.fn.bufnr("azimuth://chat")
    return bufnr > 0 and table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n"):find(%q, 1, true) ~= nil
  end)()]]):format(text), within)
end

--- Opens the chat and waits for its session.
function Child:open_chat()
  self:command("Azimuth chat")
  self:wait("require('azimuth.client').session()")
end

--- Closes the chat that was just opened. One that is still about to begin to write, or to end, would not begin again.
function Child:close_chat()
  self:wait("vim.api.nvim_get_mode().mode == 'i'")
  self:command("stopinsert | Azimuth chat")
  self:wait("vim.api.nvim_get_mode().mode == 'n'")
end

--- Writes a prompt and sends it, by keys.
---@param prompt string
function Child:prompt(prompt)
  self:lua("require('azimuth.chat').focus_input()")
  self:wait("vim.api.nvim_get_mode().mode == 'i'")
  self:type((prompt:gsub("<", "<lt>"):gsub("\n", "<CR>")))
  self:type("<C-s>")
end

--- Waits until a question stands that takes a key.
function Child:wait_for_question()
  self:wait([[(function()
    local permission = require("azimuth.permission")
    local first = permission.open()[1]
    return first and permission.takes_keys(first.request.permissionId)
  end)()]])
end

--- Returns the text on the screen, a line for each of its rows.
---@return string
function Child:screen()
  return self:lua([[
    vim.cmd.redraw()
    local rows = {}
    for row = 1, vim.o.lines do
      local cells = {}
      for column = 1, vim.o.columns do
        table.insert(cells, vim.fn.screenstring(row, column))
      end
      table.insert(rows, table.concat(cells))
    end
    return table.concat(rows, "\n")
  ]])
end

--- Ends the child.
function Child:stop()
  pcall(vim.rpcnotify, self.channel, "nvim_command", "qall!")
  if vim.fn.jobwait({ self.channel }, 5000)[1] == -1 then
    vim.fn.jobstop(self.channel)
  end
end

---@param got any
---@param wanted any
---@param what? string
function M.equal(got, wanted, what)
  if not vim.deep_equal(got, wanted) then
    error(("%s\n  wanted: %s\n  got:    %s"):format(what or "not equal", vim.inspect(wanted), vim.inspect(got)), 2)
  end
end

---@param text string
---@param part string
function M.contains(text, part)
  if not text:find(part, 1, true) then
    error(("%q is not in:\n%s"):format(part, text), 2)
  end
end

---@param text string
---@param part string
function M.lacks(text, part)
  if text:find(part, 1, true) then
    error(("%q is in:\n%s"):format(part, text), 2)
  end
end

return M
