--- The bar above a terminal: what runs or ran in it, who has it, and the keys. Pure but for the mode of the editor.

local shown = require("azimuth.render.commands")
local text = require("azimuth.text")

local M = {}

--- Says what runs or ran.
---@param state azimuth.State
---@param view azimuth.terminal.View
---@param info? azimuth.TerminalInfo
---@return string
local function what(state, view, info)
  if info and info.kind == "job" then
    return ("%s, %s: %s"):format(info.terminalId, shown.state(info), info.title)
  elseif view.gone then
    return "this terminal is gone; what it showed stays"
  end
  local name = info and info.kind or "shell"
  local last
  for at = #state.terminals, 1, -1 do
    if not last and (not view.terminal_id or state.terminals[at].terminal_id == view.terminal_id) then
      last = state.terminals[at]
    end
  end
  if not last then
    return name
  end
  local how = not last.ended and "running" or last.exit_code and ("exit code %d"):format(last.exit_code) or "ended"
  return ("%s, %s: %s"):format(name, how, last.command)
end

--- Who has the terminal, where it is not plainly the agent's.
---@param info? azimuth.TerminalInfo
---@return string? words
---@return string? group
local function who(info)
  if info and info.taken then
    return "you have it", "AzimuthWarning"
  elseif shown.is_waiting(info) then
    return shown.waits(info.waiting), "AzimuthAsk"
  elseif info and info.kind == "outside" then
    return "outside the sandbox", "AzimuthOutside"
  end
end

---@param info? azimuth.TerminalInfo
---@return string
local function keys(info)
  if vim.api.nvim_get_mode().mode == "t" then
    return "<C-\\><C-n> leaves"
  end
  local said = { "q closes" }
  if not info or info.alive then
    table.insert(said, 1, info and info.taken and "T hands back" or "T takes over")
  end
  if info and info.alive and (info.taken or info.running or info.kind == "job") then
    table.insert(said, 1, "i types")
  end
  return table.concat(said, " · ")
end

--- The whole bar, as an instruction for 'winbar'. What is cut where it does not fit is the command's end, and never a key.
---@param state azimuth.State
---@param view azimuth.terminal.View
---@param info? azimuth.TerminalInfo
---@param width integer In cells.
---@return string
function M.line(state, view, info, width)
  local right = keys(info)
  local has, group = who(info)
  local used = vim.fn.strdisplaywidth(right) + (has and vim.fn.strdisplaywidth(has) + 3 or 0)
  local left = text.shortened(vim.fn.strtrans(text.one_line(what(state, view, info))), math.max(10, width - used - 4))
  local middle = has and ("%%#%s#%s%%* · "):format(group, text.bar(has)) or ""
  return (" %s%%=%s%s "):format(text.bar(left), middle, text.bar(right))
end

return M
