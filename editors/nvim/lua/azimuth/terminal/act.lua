--- The user's actions on a session's terminals besides looking at them: answer, take over, end, signal.

local client = require("azimuth.client")
local fold = require("azimuth.fold.terminals")
local protocol = require("azimuth.generated.protocol")
local shown = require("azimuth.render.commands")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

---@param method string
---@param params table
---@param what string What could not be done, if so.
local function ask(method, params, what)
  client.request(method, params, function(err)
    if err and err.code ~= client.connection_lost then
      say(("%s: %s"):format(what, err.message), vim.log.levels.ERROR)
    end
  end)
end

--- The terminals of a session.
---@param session_id? azimuth.SessionId
---@return azimuth.TerminalInfo[]
function M.all(session_id)
  local state = client.state(session_id)
  return state and fold.all(state) or {}
end

--- Returns the user's name for a terminal: the kind of a shell, since there is one of each, and a job's id.
---@param info azimuth.TerminalInfo
---@return string
function M.name(info)
  return info.kind == "job" and info.terminalId or info.kind
end

--- The terminal that a word means, if there is one.
---@param session_id azimuth.SessionId
---@param word string
---@return azimuth.TerminalInfo?
function M.named(session_id, word)
  for _, info in ipairs(M.all(session_id)) do
    if info.terminalId == word or M.name(info) == word then
      return info
    end
  end
end

--- The names of the current session's terminals, for completion.
---@return string[]
function M.names()
  return vim.tbl_map(M.name, M.all())
end

--- The terminal as it is now.
---@param session_id azimuth.SessionId
---@param terminal_id azimuth.TerminalId
---@return azimuth.TerminalInfo?
function M.now(session_id, terminal_id)
  local state = client.state(session_id)
  return state and state.terminal_info[terminal_id] or nil
end

--- A terminal for people: its name, and what runs in it.
---@param info azimuth.TerminalInfo
---@return string
function M.described(info)
  local runs = info.kind == "job" and info.title or info.running and info.running.command
  return runs and ("%s: %s"):format(M.name(info), vim.fn.strtrans(text.one_line(runs, 80))) or M.name(info)
end

--- Lets the user choose, where there is something to choose from.
---@param infos azimuth.TerminalInfo[]
---@param prompt string
---@param callback fun(info: azimuth.TerminalInfo)
function M.choose(infos, prompt, callback)
  if #infos == 1 then
    callback(infos[1])
    return
  end
  vim.ui.select(infos, {
    prompt = "Azimuth: " .. prompt,
    kind = "azimuth.terminal",
    format_item = function(info)
      return ("%s, %s"):format(M.described(info), shown.state(info))
    end,
  }, function(info)
    if info then
      callback(info)
    end
  end)
end

--- Types into a terminal.
---@param session_id azimuth.SessionId
---@param terminal_id azimuth.TerminalId
---@param bytes string
function M.write(session_id, terminal_id, bytes)
  local params = { sessionId = session_id, terminalId = terminal_id, data = vim.base64.encode(bytes) }
  ask(requests.terminal_write, params, "the terminal did not take what was typed")
end

--- Takes a terminal over from the model, or hands it back.
---@param session_id azimuth.SessionId
---@param terminal_id azimuth.TerminalId
---@param taken boolean
function M.take(session_id, terminal_id, taken)
  local params = { sessionId = session_id, terminalId = terminal_id, taken = taken }
  ask(requests.terminal_take, params, taken and "the terminal could not be taken over" or "the terminal could not be handed back")
end

--- Ends what runs in a terminal.
---@param session_id azimuth.SessionId
---@param terminal_id azimuth.TerminalId
function M.kill(session_id, terminal_id)
  local params = { sessionId = session_id, terminalId = terminal_id }
  ask(requests.terminal_kill, params, "what runs in the terminal could not be ended")
end

---@type { signal: azimuth.TerminalSignal, what: string }[]
local signals = {
  { signal = "interrupt", what = "interrupt, as Ctrl-C does (SIGINT)" },
  { signal = "terminate", what = "terminate (SIGTERM)" },
  { signal = "hangup", what = "hang up; many servers reload their settings (SIGHUP)" },
  { signal = "quit", what = "quit, as Ctrl-\\ does (SIGQUIT)" },
  { signal = "stop", what = "stop, as Ctrl-Z does (SIGTSTP)" },
  { signal = "continue", what = "continue (SIGCONT)" },
  { signal = "kill", what = "kill (SIGKILL)" },
}

--- Sends a signal of the user's choice to what runs in a terminal.
---@param session_id azimuth.SessionId
---@param info azimuth.TerminalInfo
function M.signal(session_id, info)
  vim.ui.select(signals, {
    prompt = ("Azimuth: which signal to %s?"):format(M.described(info)),
    kind = "azimuth.signal",
    format_item = function(item)
      return item.what
    end,
  }, function(item)
    if item then
      local params = { sessionId = session_id, terminalId = info.terminalId, signal = item.signal }
      ask(requests.terminal_signal, params, "the signal could not be sent")
    end
  end)
end

--- True if a terminal waits for the same input as before. Probable may have become certain.
---@param before azimuth.TerminalInfo
---@param now? azimuth.TerminalInfo
---@return boolean
local function is_same_wait(before, now)
  local same_command = now ~= nil
    and (now.running and now.running.toolCallId) == (before.running and before.running.toolCallId)
  return same_command
    and shown.is_waiting(now)
    and now.waiting.prompt == before.waiting.prompt
    and now.waiting.hidden == before.waiting.hidden
end

---@param session_id azimuth.SessionId
---@param before azimuth.TerminalInfo
---@param said string
local function send_answer(session_id, before, said)
  if is_same_wait(before, M.now(session_id, before.terminalId)) then
    -- As the key Enter does, also for programs that read keys.
    M.write(session_id, before.terminalId, said .. "\r")
  else
    say("it no longer waits for that, so nothing was typed.", vim.log.levels.WARN)
  end
end

--- Answers what a terminal waits for. What is not shown as it is typed, such as a password, is typed in the terminal itself:
--- an input line would show it, and keep it in a history.
---@param session_id azimuth.SessionId
---@param info azimuth.TerminalInfo
---@param said? string The answer; without it, the user is asked for it.
function M.answer(session_id, info, said)
  if not shown.is_waiting(info) then
    say(("%s does not wait for input."):format(M.described(info)), vim.log.levels.WARN)
  elseif info.waiting.hidden then
    if said then
      say("what it asks for is not shown when it is typed, so type it in the terminal.", vim.log.levels.WARN)
    end
    require("azimuth.terminal").open(session_id, { terminal = info, focus = true, type = true })
  elseif said then
    send_answer(session_id, info, said)
  else
    local prompt = shown.prompt(info.waiting, 80)
    vim.ui.input({ prompt = (prompt ~= "" and prompt or M.described(info)) .. " " }, function(typed)
      if typed then
        send_answer(session_id, info, typed)
      end
    end)
  end
end

--- Answers the terminal that waits; where several do, the user says which.
---@param session_id azimuth.SessionId
---@param said? string
function M.answer_any(session_id, said)
  local state = client.state(session_id)
  local waiting = state and fold.waiting(state) or {}
  if #waiting == 0 then
    say("no command waits for input.")
    return
  end
  M.choose(waiting, "answer which?", function(info)
    M.answer(session_id, info, said)
  end)
end

return M
