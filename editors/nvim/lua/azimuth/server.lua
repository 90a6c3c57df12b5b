--- The server program: where it is, what it is started with, and whether it fits this plugin.

local config = require("azimuth.config")

local M = {}

--- The version of the methods under `azimuth/` that this plugin speaks.
M.protocol = 1

---@return string
local function executable_name()
  return vim.fn.has("win32") == 1 and "azimuth.exe" or "azimuth"
end

--- The command that starts the server: the user's, then the plugin's own, then what PATH finds.
---@return string[]? cmd
---@return string where_or_problem Where it was found, or why there is none and what to do.
function M.command()
  local cmd = config.values.cmd
  if cmd then
    if vim.fn.executable(cmd[1]) == 1 then
      return cmd, "the setting `cmd`"
    end
    return nil, ("the setting `cmd` names %s, which is not a program that can be run"):format(cmd[1])
  end
  local own = vim.fs.joinpath(config.plugin_folder(), "bin", executable_name())
  if vim.fn.executable(own) == 1 then
    return { own, "lsp" }, "the plugin's folder"
  end
  local found = vim.fn.exepath(executable_name())
  if found ~= "" then
    return { found, "lsp" }, "PATH"
  end
  return nil,
    "there is no program `azimuth` in the plugin's bin folder or in PATH. Install it, or name it: require('azimuth').setup({ cmd = { '/path/to/azimuth', 'lsp' } })"
end

--- Adds "Change this" to the code actions that the user asks for: the editor itself asks for the words.
---@param params lsp.CodeActionParams
---@param actions? table[]
---@return table[]
function M.with_change(params, actions)
  actions = type(actions) == "table" and actions or {}
  local only, kind = params.context and params.context.only, "azimuth.change"
  local is_wanted = not only or vim.iter(only):any(function(wanted)
    return wanted == "" or wanted == kind or vim.startswith(kind, wanted .. ".")
  end)
  -- A request that the user did not make, such as at each move of the cursor, looks for what can be mended.
  if is_wanted and (params.context or {}).triggerKind ~= vim.lsp.protocol.CodeActionTriggerKind.Automatic then
    local arguments = { params.textDocument.uri, params.range }
    local command = { title = "Change this", command = kind, arguments = arguments }
    table.insert(actions, { title = "Azimuth: change this…", kind = kind, command = command })
  end
  return actions
end

---@param rpc vim.lsp.rpc.PublicClient
---@return vim.lsp.rpc.PublicClient
local function with_actions(rpc)
  local request = rpc.request
  rpc.request = function(method, params, callback, notify)
    if method ~= "textDocument/codeAction" then
      return request(method, params, callback, notify)
    end
    return request(method, params, function(err, result)
      callback(err, not err and M.with_change(params, result) or result)
    end, notify)
  end
  return rpc
end

--- Starts the server, as `cmd` of a `vim.lsp.ClientConfig`.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
function M.spawn(dispatchers)
  local cmd, problem = M.command()
  if not cmd then
    error("Azimuth cannot start its server: " .. problem, 0)
  end
  return with_actions(vim.lsp.rpc.start(cmd, dispatchers, { env = require("azimuth.keys").environment() }))
end

--- Why the server that answered cannot be used with this plugin, or nil.
---@param answer lsp.InitializeResult
---@return string?
function M.misfit(answer)
  local info = answer.serverInfo or {}
  local own = vim.tbl_get(answer, "capabilities", "experimental", "azimuth")
  if info.name ~= "azimuth" or type(own) ~= "table" then
    return ("The program that was started is not Azimuth's server but %q. Check the setting `cmd`."):format(info.name or "unknown")
  end
  local spoken = tonumber(own.protocol) or 0
  if spoken == M.protocol then
    return nil
  end
  local older = spoken < M.protocol
  return ("Azimuth's server %s speaks version %d of its protocol, and this plugin version %d. Update the %s, then :Azimuth restart."):format(
    info.version or "of unknown version",
    spoken,
    M.protocol,
    older and "server" or "plugin"
  )
end

return M
