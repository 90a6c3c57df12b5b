--- How commands look in the transcript: what a command waits for, what was typed into it, and the user's own. Pure.

local blocks = require("azimuth.render.block")
local text = require("azimuth.text")

local M = {}

local put = blocks.put

--- How many lines of what a command of the user's own printed are shown; the rest is a key away.
M.MAX_TAIL = 20
--- How many of the lines that were typed last are shown while a command runs.
local MAX_TYPED = 3

--- A line of a program's, without what a terminal would take for an instruction.
---@param line string
---@param limit? integer
---@return string
local function harmless(line, limit)
  return vim.fn.strtrans(text.one_line(line, limit))
end

--- That a command waits, in the words that say how sure it is.
---@param waiting azimuth.Waiting
---@return string
function M.waits(waiting)
  local how = waiting.certainty == "certain" and "waits for input" or "may be waiting for input"
  return waiting.hidden and how .. " that is not shown" or how
end

--- Returns what a program asks, on one line.
---@param waiting azimuth.Waiting
---@param limit? integer
---@return string
function M.prompt(waiting, limit)
  return harmless(waiting.prompt, limit or 160)
end

--- Says what a terminal does, in a few words: `up, port 8000`, `exit code 1`.
---@param info azimuth.TerminalInfo
---@return string
function M.state(info)
  if info.waiting and info.alive then
    return M.waits(info.waiting)
  elseif info.kind ~= "job" then
    return info.running and "running" or info.alive and "ready" or "ended"
  elseif not info.alive then
    return info.exitCode and ("exit code %d"):format(info.exitCode) or "stopped"
  end
  local ports = info.ready and info.ready.ports or {}
  if #ports > 0 then
    return ("up, port %s"):format(table.concat(ports, ", "))
  end
  return info.ready and info.ready.line and "up" or "running"
end

--- True if keys can answer it.
---@param info? azimuth.TerminalInfo
---@return boolean
function M.is_waiting(info)
  return info ~= nil and info.alive and info.waiting ~= nil
end

---@param typed azimuth.Event.TerminalInput
---@return string
local function said(typed)
  local who = typed.by == "user" and "You" or "The model"
  if typed.hidden then
    return who .. " typed what is not shown"
  end
  return ("%s typed: %s"):format(who, harmless(typed.text, 160))
end

--- Adds what was typed into a command.
---@param into azimuth.Block
---@param entry azimuth.Entry
---@param last? integer Only so many of the last lines.
function M.typed(into, entry, last)
  local typed = entry.typed or {}
  for at = math.max(1, #typed - (last or #typed) + 1), #typed do
    put(into, "  " .. said(typed[at]), "AzimuthDim")
  end
end

--- Adds what stands below the line of a command that runs: what was typed, what it asks, and the keys.
---@param into azimuth.Block
---@param entry azimuth.Entry
function M.running(into, entry)
  M.typed(into, entry, MAX_TYPED)
  local info = entry.terminal
  if not info then
    return
  end
  if info.waiting then
    local prompt = M.prompt(info.waiting)
    if prompt ~= "" then
      put(into, "  " .. prompt, "AzimuthAsk")
    end
  end
  if not info.waiting and not info.taken then
    return
  end
  local keys = {}
  if info.waiting then
    table.insert(keys, { "s", info.waiting.hidden and "answers in the terminal" or "answers" })
  end
  table.insert(keys, { "T", info.taken and "hands it back to the agent" or "takes it over" })
  table.insert(keys, { "t", "shows it" })
  table.insert(keys, { "x", "ends it" })
  local line, marks = " ", {}
  for at, key in ipairs(keys) do
    line = line .. (at > 1 and " · " or " ")
    table.insert(marks, { #line, #line + #key[1] })
    line = ("%s%s %s"):format(line, key[1], key[2])
  end
  put(into, line, "AzimuthDim")
  for _, mark in ipairs(marks) do
    table.insert(into.marks, { row = #into.lines - 1, col = mark[1], end_col = mark[2], group = "AzimuthKey" })
  end
end

--- The words behind the title of a command, as far as its terminal has something to say.
---@param entry azimuth.Entry
---@return string?
function M.note(entry)
  local info = entry.terminal
  if not info then
    return nil
  elseif info.taken then
    return "you have the terminal"
  elseif M.is_waiting(info) then
    return M.state(info)
  elseif info.kind == "job" then
    return ("%s: %s"):format(info.terminalId, M.state(info))
  end
end

--- The lines that a command of the user's own printed last.
---@param body string
---@return string[]
---@return integer above How many lines are before them.
local function tail(body)
  local lines = text.lines(body)
  while #lines > 0 and lines[#lines] == "" do
    table.remove(lines)
  end
  local above = math.max(0, #lines - M.MAX_TAIL)
  return vim.list_slice(lines, above + 1), above
end

--- A command of the user's own.
---@param entry azimuth.Entry
---@param look { [1]: string, [2]: string } The sign of its state, and its highlight.
---@return azimuth.Block
function M.ran(entry, look)
  local into = blocks.new()
  blocks.header(into, entry.in_context and "You, in the shell" or "You, in the shell · not in the context", "AzimuthUser")
  put(into, "")
  local line = ("%s %s"):format(look[1], harmless(entry.command or "", 300))
  local title_end = #line
  local rest = {}
  if entry.done then
    local code = entry.exit_code
    if code ~= 0 then
      table.insert(rest, code and ("exit code %d"):format(code) or "not finished")
    end
    if (entry.duration_ms or 0) >= 100 then
      table.insert(rest, text.duration(entry.duration_ms))
    end
  else
    table.insert(rest, M.note(entry) or "running")
  end
  line = #rest > 0 and line .. "  " .. table.concat(rest, " · ") or line
  put(into, line)
  table.insert(into.marks, { row = #into.lines - 1, col = 0, end_col = #look[1], group = look[2] })
  local waits = M.is_waiting(entry.terminal)
  table.insert(into.marks, { row = #into.lines - 1, col = title_end, group = waits and "AzimuthAsk" or "AzimuthDim" })
  if not entry.done then
    M.running(into, entry)
  else
    M.typed(into, entry)
    local lines, above = tail(entry.text or "")
    if #lines > 0 then
      if above > 0 then
        put(into, ("… %s above; <CR> shows all"):format(text.plural(above, "line")), "AzimuthDim")
      end
      blocks.verbatim(into, table.concat(lines, "\n"))
    end
  end
  put(into, "")
  return into
end

return M
