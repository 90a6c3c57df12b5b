--- The quiet sign that a change is being written: words behind the first line of the selection.

local selections = require("azimuth.change.selection")
local text = require("azimuth.text")
require("azimuth.highlights")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.change.sign")

--- The longest title of a tool call that is shown, in cells.
local MAX_TITLE = 40

--- Says what goes on in a session, in a few words.
---@param state azimuth.State
---@return string
function M.doing(state)
  local lines, tool = 0, nil
  for at = #state.entries, 1, -1 do
    local entry = state.entries[at]
    if entry and entry.kind == "user" and entry.turn_id == state.running then
      break
    elseif entry and entry.kind == "diff" then
      lines = lines + entry.diff.added
    elseif entry and entry.kind == "tool" and not entry.done then
      tool = tool or entry.title
    end
  end
  if state.retrying then
    return "trying again…"
  elseif lines > 0 then
    return ("changing… %s so far"):format(text.plural(lines, "line"))
  elseif tool and tool ~= "" then
    return text.shortened(text.one_line(tool), MAX_TITLE) .. "…"
  end
  return "changing…"
end

--- The cells behind a line of a buffer, in the narrowest window that shows it.
---@param bufnr integer
---@param row integer
---@return integer
local function room_behind(bufnr, row)
  local width = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.min(width, info.width - info.textoff)
  end
  local line = text.cut(vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or "")
  return width - vim.fn.strdisplaywidth(line) - 1
end

--- Shows the sign at a selection, in place of what it showed. The key is named if there is room for it.
---@param selection azimuth.change.Selection
---@param state azimuth.State
---@param keys { cancel: string, permission: string } The keys that the sign names.
---@param id? integer Of the sign that is shown.
---@return integer id
function M.show(selection, state, keys, id)
  local row = selections.rows(selection)
  local said, group, hint = "  Azimuth: " .. M.doing(state), "AzimuthRunning", (" · %s cancels"):format(keys.cancel)
  if #state.questions > 0 then
    said, group, hint = "  Azimuth asks", "AzimuthAsk", (" · %s answers"):format(keys.permission)
  end
  local words = { { said, group } }
  if vim.fn.strdisplaywidth(said .. hint) <= room_behind(selection.bufnr, row) then
    table.insert(words, { hint, "AzimuthHint" })
  end
  return vim.api.nvim_buf_set_extmark(selection.bufnr, namespace, row, 0, {
    id = id,
    virt_text = words,
    virt_text_pos = "eol",
    hl_mode = "combine",
    strict = false,
  })
end

--- Takes the sign away.
---@param bufnr integer
---@param id integer
function M.hide(bufnr, id)
  pcall(vim.api.nvim_buf_del_extmark, bufnr, namespace, id)
end

return M
