--- The part of the fold that is about terminals: what runs in them, whether that waits for input, and who typed what. Pure.

local entries = require("azimuth.fold.entries")

local M = {}

--- The handlers of events, by kind; see `fold.lua`.
---@type table<string, fun(state: azimuth.State, event: any, at: integer)>
M.on = {}

local on = M.on
local add, find, touch, retain = entries.add, entries.find, entries.touch, entries.retain

--- The entry of a command: of a tool call, or of the user's own.
---@param state azimuth.State
---@param id? azimuth.ToolCallId
---@return azimuth.Entry?
local function card(state, id)
  return id and (find(state, "tool", id) or find(state, "ran", id)) or nil
end

function on.terminalStarted(state, event)
  table.insert(state.terminals, {
    terminal_id = event.terminalId,
    tool_call_id = event.toolCallId,
    command = event.command,
    cwd = event.cwd,
    offset = event.offset,
  })
  local entry = card(state, event.toolCallId)
  if entry then
    entry.version = state.version
    entry.terminal_id = event.terminalId
  end
end

function on.terminalEnded(state, event)
  for at = #state.terminals, 1, -1 do
    local run = state.terminals[at]
    if run.terminal_id == event.terminalId and run.tool_call_id == event.toolCallId then
      run.ended = true
      run.exit_code = event.exitCode
      return
    end
  end
end

--- The call that made a job. Its entry shows the job as long as it is known.
---@param state azimuth.State
---@param info azimuth.TerminalInfo
---@return azimuth.ToolCallId?
local function maker(state, info)
  for at = #state.terminals, 1, -1 do
    if state.terminals[at].terminal_id == info.terminalId then
      return state.terminals[at].tool_call_id
    end
  end
end

--- Shows a terminal in the entry of what runs in it, or no longer.
---@param state azimuth.State
---@param id? azimuth.ToolCallId
---@param info? azimuth.TerminalInfo
local function show_in(state, id, info)
  local entry = card(state, id)
  if not entry then
    return
  end
  local was = entry.terminal
  -- How much it has printed is not shown, and changes all the time.
  local same = was ~= nil
    and info ~= nil
    and was.alive == info.alive
    and was.taken == info.taken
    and was.exitCode == info.exitCode
    and vim.deep_equal(was.waiting, info.waiting)
    and vim.deep_equal(was.ready, info.ready)
  entry.terminal = info
  if info then
    entry.terminal_id = info.terminalId
  end
  if not same and (was or info) then
    entry.version = state.version
  end
end

function on.terminalChanged(state, event)
  local info = event.terminal
  local id = info.terminalId
  local before = state.terminal_info[id]
  if not before then
    table.insert(state.terminal_order, id)
  end
  state.terminal_info[id] = info
  local was = before and before.running and before.running.toolCallId
  local is = info.running and info.running.toolCallId or info.kind == "job" and (was or maker(state, info)) or nil
  if was and was ~= is then
    show_in(state, was, nil)
  end
  show_in(state, is, info)
end

function on.terminalInput(state, event)
  local entry = card(state, event.toolCallId)
  if entry then
    entry.typed = entry.typed or {}
    table.insert(entry.typed, event)
    entry.version = state.version
  end
end

function on.userCommandStarted(state, event, at)
  add(state, at, {
    kind = "ran",
    id = event.toolCallId,
    command = event.command,
    in_context = event.inContext == true,
    status = "running",
  })
end

function on.userCommandEnded(state, event)
  local entry = touch(state, "ran", event.toolCallId)
  if entry then
    entry.text = event.text
    entry.exit_code = event.exitCode
    entry.duration_ms = event.durationMs
    entry.status = event.exitCode == 0 and "done" or event.exitCode and "failed" or "cancelled"
    entry.done = true
  end
end

--- Takes in which terminals there are, as the server lists them. Those that were known when it was asked and are not listed
--- are gone: they belonged to an earlier host of the session.
---@param state azimuth.State
---@param listed azimuth.TerminalInfo[]
---@param asked azimuth.TerminalId[] Those that were known then.
function M.take(state, listed, asked)
  state.version = state.version + 1
  local there = {}
  for _, info in ipairs(listed) do
    there[info.terminalId] = true
    on.terminalChanged(state, { terminal = info })
  end
  for _, id in ipairs(asked) do
    if not there[id] then
      state.terminal_info[id] = nil
    end
  end
  retain(state.terminal_order, function(id)
    return state.terminal_info[id] ~= nil
  end)
end

--- The terminals of a session: the shells first, then jobs in the order in which they appeared.
---@param state azimuth.State
---@return azimuth.TerminalInfo[]
function M.all(state)
  local shells, jobs = {}, {}
  for _, id in ipairs(state.terminal_order) do
    local info = state.terminal_info[id]
    table.insert(info.kind == "job" and jobs or shells, info)
  end
  return vim.list_extend(shells, jobs)
end

--- The terminals whose command waits for input.
---@param state azimuth.State
---@return azimuth.TerminalInfo[]
function M.waiting(state)
  return vim.tbl_filter(function(info)
    return info.alive and info.waiting ~= nil
  end, M.all(state))
end

return M
