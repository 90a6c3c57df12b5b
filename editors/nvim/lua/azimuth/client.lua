--- The connection to the server: one language client for the whole editor, and the sessions it follows.
---
--- Everything else of the plugin asks and listens here. Nothing here waits: requests have callbacks, which are called
--- once, in the main loop, also when the server ends before it answered.
---
--- Listeners of `on` hear each event once, as it happens. When a session is opened with its whole past, they hear one
--- `sessionOpened` instead of thousands of old events; the folded state holds what those said. Besides the server's
--- events there are three of our own, with `seq` 0: `sessionOpened`, `sessionSelected` (another session is the current
--- one) and `connection`, with `state` `ready`, `lost` or `failed` and no session.

local config = require("azimuth.config")
local documents = require("azimuth.lang.documents")
local fold = require("azimuth.fold")
local protocol = require("azimuth.generated.protocol")
local server = require("azimuth.server")

local M = {}

---@class azimuth.Error
---@field code integer
---@field message string
---@field data? any

---@class azimuth.FollowedSession
---@field state azimuth.State
---@field early table<integer, table> Events that came before the ones they follow.
---@field opening boolean Whether `session/open` is under way.
---@field attached boolean Whether the server sends us its events.
---@field kept? boolean True if it is followed beside the current one.

--- The error of a request whose answer never came.
M.connection_lost = -32097

local is_011 = vim.fn.has("nvim-0.11") == 1

---@type vim.lsp.Client?
local lsp_client = nil
---@type integer?
local starting = nil
---@type fun()[]
local when_ready = {}
---@type table<integer, fun(err: azimuth.Error?, result: any)>
local waiting = {}
local next_request = 0

---@type table<string, azimuth.FollowedSession>
local sessions = {}
---@type string?
local current = nil
---@type table<string, table<fun(session_id: string?, event: table, seq: integer), boolean>>
local listeners = {}
---@type table<string, table<fun(params: table), boolean>>
local notification_listeners = {}

--- When the server was started again, in milliseconds, within the last minute.
---@type integer[]
local restarts = {}
local MAX_RESTARTS = 5
local RESTART_WINDOW = 60000
local stopping = false
--- How long a server that is to end may take for it, in milliseconds.
local ENDING = 3000
---@type table<integer, integer> The processes of the clients that we started, by the client's id.
local processes = {}

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

-- Listening ---------------------------------------------------------------------------------------------------------

---@param set table
---@param key string
---@param callback function
---@return fun() off
local function subscribe(set, key, callback)
  set[key] = set[key] or {}
  set[key][callback] = true
  return function()
    set[key][callback] = nil
  end
end

--- A fault of one listener is said, and keeps no other from hearing.
---@param set? table<function, boolean>
local function tell(set, ...)
  -- A listener may leave while it is told.
  for _, callback in ipairs(vim.tbl_keys(set or {})) do
    local ok, problem = xpcall(callback, debug.traceback, ...)
    if not ok then
      say(problem, vim.log.levels.ERROR)
    end
  end
end

--- Listens to events of sessions: to one type, or to all with `*`.
---@param event_type string
---@param callback fun(session_id: string?, event: table, seq: integer)
---@return fun() off
function M.on(event_type, callback)
  return subscribe(listeners, event_type, callback)
end

--- Listens to a notification of the server.
---@param method string
---@param callback fun(params: table)
---@return fun() off
function M.on_notification(method, callback)
  return subscribe(notification_listeners, method, callback)
end

---@param session_id string?
---@param event table
---@param seq integer
local function emit(session_id, event, seq)
  tell(listeners[event.type], session_id, event, seq)
  tell(listeners["*"], session_id, event, seq)
end

-- Asking ------------------------------------------------------------------------------------------------------------

---@param task fun()
local function ready(task)
  if lsp_client then
    task()
    return
  end
  table.insert(when_ready, task)
  M.start()
end

--- Calls back for every request that waits, with an error: their answers will not come.
---@param message string
local function fail_waiting(message)
  local failed = waiting
  waiting = {}
  for _, callback in pairs(failed) do
    callback({ code = M.connection_lost, message = message })
  end
end

--- Asks the server, which is started if need be.
---@param method string
---@param params? table
---@param callback? fun(err: azimuth.Error?, result: any)
function M.request(method, params, callback)
  next_request = next_request + 1
  local id = next_request
  waiting[id] = callback or function(err)
    if err then
      say(err.message, vim.log.levels.ERROR)
    end
  end
  ready(function()
    if not waiting[id] then
      return
    end
    local function answered(err, result)
      local taken = waiting[id]
      waiting[id] = nil
      if taken then
        taken(err, result)
      end
    end
    if params == nil or next(params) == nil then
      params = vim.empty_dict()
    end
    local sent
    if is_011 then
      sent = lsp_client:request(method, params, answered)
    else
      sent = lsp_client.request(method, params, answered)
    end
    if not sent then
      answered({ code = M.connection_lost, message = "The server has ended." })
    end
  end)
end

---@param method string
---@param params? table
function M.notify(method, params)
  ready(function()
    if is_011 then
      lsp_client:notify(method, params or vim.empty_dict())
    else
      lsp_client.notify(method, params or vim.empty_dict())
    end
  end)
end

-- Sessions ----------------------------------------------------------------------------------------------------------

---@param session_id string
---@return azimuth.FollowedSession
local function followed(session_id)
  sessions[session_id] = sessions[session_id]
    or { state = fold.new(), early = {}, opening = false, attached = false }
  return sessions[session_id]
end

--- The session that commands and views mean.
---@return string?
function M.session()
  return current
end

--- The folded state of a session; without an id, of the current one.
---@param session_id? string
---@return azimuth.State?
function M.state(session_id)
  local session = sessions[session_id or current or ""]
  return session and session.state
end

--- The sessions that we follow.
---@return string[] ids
function M.sessions()
  return vim.tbl_keys(sessions)
end

--- Leaves a session that is not the current one, once nothing goes on in it: what it asks or does meanwhile is to be seen.
---@param session_id string
local function leave_if_idle(session_id)
  local session = sessions[session_id]
  if not session or session_id == current or session.kept or not session.attached then
    return
  end
  local state = session.state
  if state.running or #state.questions > 0 or #state.queue > 0 then
    return
  end
  session.attached = false
  M.request(protocol.requests.session_close, { sessionId = session_id }, function(err)
    if err and err.code ~= protocol.error_codes.notFound and err.code ~= M.connection_lost then
      say(("the session %s could not be closed: %s"):format(session_id, err.message), vim.log.levels.WARN)
    end
  end)
end

---@param session_id string
function M.select(session_id)
  if current ~= session_id then
    local left = current
    current = session_id
    emit(session_id, { type = "sessionSelected" }, 0)
    if left then
      leave_if_idle(left)
    end
  end
end

M.on("turnEnded", leave_if_idle)

--- Follows a session whose events the server sends by now, until `leave`, beside the current one.
---@param session_id string
function M.keep(session_id)
  local session = followed(session_id)
  session.kept, session.attached = true, true
end

--- The sessions that are kept beside the current one, in the order of their ids.
---@return string[] ids
function M.kept()
  local ids = vim.tbl_filter(function(session_id)
    return sessions[session_id].kept == true and session_id ~= current
  end, M.sessions())
  table.sort(ids)
  return ids
end

--- Keeps a session no longer. It is left once nothing goes on in it, unless it is the current one.
---@param session_id string
function M.leave(session_id)
  local session = sessions[session_id]
  if session then
    session.kept = nil
    leave_if_idle(session_id)
  end
end

local open_at_server

--- Takes in what follows the last event without a gap, and keeps the rest.
---@param session_id string
---@param session azimuth.FollowedSession
local function drain(session_id, session)
  while true do
    local seq = session.state.seq + 1
    local sequenced = session.early[seq]
    if not sequenced then
      break
    end
    session.early[seq] = nil
    fold.apply(session.state, sequenced)
    emit(session_id, sequenced.event, seq)
  end
  -- Behind a gap only the server knows what is missing.
  if next(session.early) and session.attached and not session.opening then
    open_at_server(session_id)
  end
end

---@param params azimuth.EventParams
local function on_event(_, params)
  local session = followed(params.sessionId)
  if params.seq > session.state.seq then
    session.early[params.seq] = params
    drain(params.sessionId, session)
  end
end

--- Opens a session at the server from the last event we have, and takes in what is new.
---@param session_id string
---@param callback? fun(err: azimuth.Error?, result?: azimuth.SessionOpenResult)
open_at_server = function(session_id, callback)
  local session = followed(session_id)
  local since = session.state.seq
  session.opening = true
  M.request(protocol.requests.session_open, { sessionId = session_id, since = since }, function(err, result)
    session.opening = false
    if err then
      if callback then
        callback(err)
      end
      return
    end
    session.attached = true
    if since == 0 then
      for _, sequenced in ipairs(result.events) do
        if sequenced.seq > session.state.seq then
          fold.apply(session.state, sequenced)
        end
      end
      emit(session_id, { type = "sessionOpened" }, 0)
    else
      for _, sequenced in ipairs(result.events) do
        if sequenced.seq > session.state.seq then
          session.early[sequenced.seq] = sequenced
        end
      end
    end
    for seq in pairs(session.early) do
      if seq <= session.state.seq then
        session.early[seq] = nil
      end
    end
    drain(session_id, session)
    if callback then
      callback(nil, result)
    end
  end)
end

--- Opens a session and makes it the current one.
---@param session_id string
---@param callback? fun(err: azimuth.Error?, session_id?: string)
function M.open_session(session_id, callback)
  callback = callback or function() end
  local session = followed(session_id)
  if session.attached then
    M.select(session_id)
    callback(nil, session_id)
    return
  end
  open_at_server(session_id, function(err)
    if not err then
      M.select(session_id)
    elseif session.state.seq == 0 then
      sessions[session_id] = nil
    end
    callback(err, session_id)
  end)
end

--- Opens a session beside the current one, and keeps it until `leave`.
---@param session_id string
---@param callback fun(err: azimuth.Error?, result?: azimuth.SessionOpenResult)
function M.open_beside(session_id, callback)
  local session = followed(session_id)
  session.kept = true
  open_at_server(session_id, function(err, result)
    sessions[session_id] = (not err or session.state.seq > 0) and session or nil
    callback(err, result)
  end)
end

--- Makes a session and makes it the current one.
---@param options? azimuth.SessionNewParams
---@param callback? fun(err: azimuth.Error?, session_id?: string)
function M.new_session(options, callback)
  callback = callback or function() end
  M.request(protocol.requests.session_new, options or {}, function(err, result)
    if err then
      callback(err)
      return
    end
    local session_id = result.session.sessionId
    local session = followed(session_id)
    session.attached = true
    session.state.model = session.state.model or result.session.model
    M.select(session_id)
    callback(nil, session_id)
  end)
end

---@type fun(err: azimuth.Error?, session_id?: string)[] Who waits for a session that is being opened or made.
local want_session = {}

---@param err azimuth.Error?
---@param session_id? string
local function tell_session(err, session_id)
  local callbacks = want_session
  want_session = {}
  for _, callback in ipairs(callbacks) do
    callback(err, session_id)
  end
end

--- The current session. Without one, the last of this project is opened; without any, one is made, for all who ask meanwhile.
---@param callback fun(err: azimuth.Error?, session_id?: string)
function M.ensure_session(callback)
  if current then
    callback(nil, current)
    return
  end
  table.insert(want_session, callback)
  if #want_session > 1 then
    return
  end
  M.request(protocol.requests.session_list, { limit = 1 }, function(err, result)
    if current then
      tell_session(nil, current)
      return
    end
    local last = not err and result.sessions[1]
    if not last then
      M.new_session(nil, tell_session)
      return
    end
    M.open_session(last.sessionId, function(open_err, session_id)
      if not open_err then
        tell_session(nil, session_id)
        return
      end
      say((open_err.message:gsub("%.$", "")) .. ". Starting a new session instead.", vim.log.levels.WARN)
      M.new_session(nil, tell_session)
    end)
  end)
end

--- Forgets a session that was deleted, or is no longer wanted.
---@param session_id string
function M.forget(session_id)
  sessions[session_id] = nil
  if current == session_id then
    current = nil
  end
end

-- Documents ---------------------------------------------------------------------------------------------------------

--- True if a buffer is a document of a file, even if that is not there yet. One that is read for a question alone is none.
---@param bufnr integer
---@return boolean
function M.is_document(bufnr)
  if not vim.api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].buftype ~= "" or documents.is_held(bufnr) then
    return false
  end
  local name = vim.api.nvim_buf_get_name(bufnr)
  return name ~= "" and not name:match("^%a[%w+.-]+://") and vim.fn.isdirectory(name) == 0
end

--- Tells the server of a document.
---@param bufnr integer
function M.attach(bufnr)
  local id = lsp_client and lsp_client.id or starting
  if id and M.is_document(bufnr) and not vim.lsp.buf_is_attached(bufnr, id) then
    vim.lsp.buf_attach_client(bufnr, id)
  end
end

--- Every document that is open, now or later, is known to the server.
local function attach_all()
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "BufWritePost", "BufEnter" }, {
    group = vim.api.nvim_create_augroup("azimuth.documents", { clear = true }),
    callback = function(args)
      M.attach(args.buf)
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(bufnr)
  end
end

-- Life and death ----------------------------------------------------------------------------------------------------

--- The folder of the project: what is above the file of a buffer, or the current folder.
---@param bufnr? integer Without it, the current buffer.
---@return string
function M.root(bufnr)
  bufnr = bufnr or vim.api.nvim_get_current_buf()
  local from = M.is_document(bufnr) and vim.api.nvim_buf_get_name(bufnr) or vim.fn.getcwd()
  return vim.fs.root(from, config.values.root_markers) or vim.fn.getcwd()
end

---@return table<integer, true>
local function child_processes()
  local children = {}
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    children[pid] = true
  end
  return children
end

---@param client_id integer
---@param force boolean
local function stop(client_id, force)
  local client = vim.lsp.get_client_by_id(client_id)
  if client and is_011 then
    client:stop(force)
  elseif client then
    client.stop(force)
  end
end

--- Loads what shows by itself what happens in a session.
local function load_views()
  for _, view in ipairs({ "permission", "review", "terminal", "follow", "workflows", "inline", "change", "reload" }) do
    if #vim.api.nvim_get_runtime_file(("lua/azimuth/%s.lua"):format(view), false) > 0 then
      require("azimuth." .. view)
    end
  end
end

---@param client vim.lsp.Client
---@param answer lsp.InitializeResult
local function adopt(client, answer)
  local misfit = server.misfit(answer)
  if misfit then
    stopping = true
    vim.schedule(function()
      stop(client.id, true)
    end)
    say(misfit, vim.log.levels.ERROR)
    when_ready = {}
    fail_waiting(misfit)
    emit(nil, { type = "connection", state = "failed", message = misfit }, 0)
    return
  end
  lsp_client = client
  starting = nil
  stopping = false
  load_views()
  require("azimuth.lang.diagnostics").watch()
  attach_all()
  -- The sessions first, so that what waited finds them attached.
  for session_id, session in pairs(sessions) do
    if session.attached then
      session.attached = false
      open_at_server(session_id, function(err)
        local is_empty = #session.state.entries == 0
        if err and err.code == protocol.error_codes.notFound and is_empty then
          -- One in which nothing was said is not kept, and another is as good.
          local was_current = current == session_id
          M.forget(session_id)
          if was_current then
            M.new_session()
          end
        elseif err then
          say(("the session %s could not be opened again: %s"):format(session_id, err.message), vim.log.levels.ERROR)
        end
      end)
    end
  end
  local tasks = when_ready
  when_ready = {}
  for _, task in ipairs(tasks) do
    task()
  end
  emit(nil, { type = "connection", state = "ready" }, 0)
end

---@param code integer
---@param signal integer
---@param client_id integer
local function on_exit(code, signal, client_id)
  processes[client_id] = nil
  if client_id ~= starting and not (lsp_client and lsp_client.id == client_id) then
    return
  end
  local initialized = lsp_client ~= nil
  lsp_client = nil
  starting = nil
  local wanted = stopping or (code == 0 and (signal == 0 or signal == 15)) or vim.v.exiting ~= vim.NIL
  stopping = false
  fail_waiting("The server ended before it answered.")
  if wanted then
    emit(nil, { type = "connection", state = "lost" }, 0)
    return
  end
  local now = vim.uv.now()
  restarts = vim.tbl_filter(function(at)
    return now - at < RESTART_WINDOW
  end, restarts)
  local how = signal ~= 0 and ("by signal %d"):format(signal) or ("with exit code %d"):format(code)
  if #restarts >= MAX_RESTARTS or not initialized then
    say(
      ("the server ended %s%s. `azimuth doctor` says where its log is; :Azimuth restart tries again."):format(
        how,
        initialized and (", %d times in a minute"):format(#restarts + 1) or " before it was ready"
      ),
      vim.log.levels.ERROR
    )
    emit(nil, { type = "connection", state = "failed" }, 0)
    return
  end
  table.insert(restarts, now)
  say(("the server ended %s and is started again (%d of %d)."):format(how, #restarts, MAX_RESTARTS), vim.log.levels.WARN)
  emit(nil, { type = "connection", state = "lost" }, 0)
  vim.defer_fn(M.start, 100 * 2 ^ (#restarts - 1))
end

--- Returns the options for the server at its start, in addition to its own files.
---@return table?
local function init_options()
  local options = config.values.init_options
  local trust = require("azimuth.trust").option()
  return trust and vim.tbl_extend("keep", options or {}, { workspaceTrust = trust }) or options
end

--- Returns the configuration of our language client, for `vim.lsp.start` and for `lsp/azimuth.lua`.
---@return vim.lsp.ClientConfig
function M.lsp_config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  -- The plugin shows suggestions itself; without it, `vim.lsp.inline_completion` does.
  capabilities.textDocument.inlineCompletion = vim.NIL
  capabilities.experimental = vim.tbl_extend("force", capabilities.experimental or {}, {
    azimuth = { panel = true, save = true, text = true, format = true, query = true },
  })
  local handlers = vim.tbl_extend("error", require("azimuth.editor_requests").handlers, {
    [protocol.notifications.event] = on_event,
  })
  for _, method in pairs(protocol.notifications) do
    handlers[method] = handlers[method] or function(_, params)
      tell(notification_listeners[method], params)
    end
  end
  return {
    name = "azimuth",
    cmd = server.spawn,
    capabilities = capabilities,
    init_options = init_options(),
    handlers = handlers,
    -- A prompt is about what the user sees, so changes are not held back.
    flags = { debounce_text_changes = 0 },
    on_init = function(client, answer)
      adopt(client, answer)
    end,
    on_exit = function(code, signal, client_id)
      vim.schedule(function()
        on_exit(code, signal, client_id)
      end)
    end,
  }
end

--- Starts the server, or gives the client that runs.
---@param options? table Overrides of the client's configuration.
---@return integer? client_id
function M.start(options)
  if lsp_client or starting then
    return lsp_client and lsp_client.id or starting
  end
  local root = M.root()
  -- From 0.11 on the user's own `vim.lsp.config("azimuth", ...)` counts here too.
  local base = is_011 and vim.lsp.config.azimuth or M.lsp_config()
  local settings = vim.tbl_deep_extend("force", base, {
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fs.basename(root) } },
  }, options or {})
  -- A command of the user's own is not started by `server.spawn`, and is to have the stored keys, too.
  settings.cmd_env = vim.tbl_extend("force", require("azimuth.keys").environment(), settings.cmd_env or {})
  local id, problem
  local before = child_processes()
  if is_011 then
    local ok, started = pcall(vim.lsp.start, settings, { attach = false })
    id, problem = ok and started or nil, not ok and started or nil
  else
    id, problem = vim.lsp.start_client(settings)
  end
  if not id then
    problem = tostring(problem or "the server could not be started; :checkhealth azimuth says more")
    say(problem, vim.log.levels.ERROR)
    when_ready = {}
    fail_waiting(problem)
    emit(nil, { type = "connection", state = "failed", message = problem }, 0)
    return nil
  end
  if not lsp_client then
    starting = id
  end
  for pid in pairs(child_processes()) do
    if not before[pid] then
      processes[id] = pid
    end
  end
  return id
end

--- Ends the server, if it runs, and starts it anew; the sessions go on where they stood. One that does not end is killed.
function M.restart()
  restarts = {}
  local id = lsp_client and lsp_client.id or starting
  if not id then
    M.start()
    return
  end
  stopping = true
  local off
  off = M.on("connection", function(_, event)
    if event.state == "lost" then
      off()
      M.start()
    end
  end)
  stop(id, false)
  vim.defer_fn(function()
    if not vim.lsp.get_client_by_id(id) then
      return
    end
    say("the server did not exit, so it is killed.", vim.log.levels.WARN)
    -- Neovim's own way asks again, by a signal that a server that hangs does not hear.
    if processes[id] then
      vim.uv.kill(processes[id], "sigkill")
    else
      stop(id, true)
    end
  end, ENDING)
end

--- The language client, once the server is ready.
---@return vim.lsp.Client?
function M.lsp_client()
  return lsp_client
end

return M
