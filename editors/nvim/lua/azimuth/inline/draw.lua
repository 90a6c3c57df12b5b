--- Draws a suggestion as virtual text. The buffer's own text does not change, and the cursor's line does not move.

local suggestions = require("azimuth.inline.suggestion")
require("azimuth.highlights")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.inline")

local GROUP = "AzimuthGhost"
local SIGN = "»"
--- Lower than that of most plugins, so that their text at the end of a line, such as a type, comes after the
--- suggestion.
local PRIORITY = 1
--- From 0.11 on, virtual lines scroll to the side with the text.
local is_011 = vim.fn.has("nvim-0.11") == 1

---@class azimuth.inline.Spot
---@field bufnr integer
---@field row integer From 0.
---@field col integer The cursor, in bytes.
---@field namespace? integer The marks' own; without it, that of ghost text.

--- A text as it looks in the current window from a column on: virtual text knows no tabs.
---@param line string
---@param column integer From 0.
---@return string
function M.expanded(line, column)
  if not line:find("[%c\127]") then
    return line
  end
  local parts = {}
  for at, part in ipairs(vim.split(line, "\t", { plain = true })) do
    if at > 1 then
      local width = vim.fn.strdisplaywidth("\t", column)
      table.insert(parts, (" "):rep(width))
      column = column + width
    end
    part = vim.fn.strtrans(part)
    table.insert(parts, part)
    column = column + vim.fn.strdisplaywidth(part, column)
  end
  return table.concat(parts)
end

--- The part of a text from a cell on, with at most so many cells. Half of a wide character is a space.
---@param line string
---@param first integer From 0.
---@param width integer
---@return string part
---@return integer bytes The bytes of the line up to the part's end.
local function cells(line, first, width)
  local part, at, bytes = "", 0, 0
  for character in line:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    local wide = vim.fn.strdisplaywidth(character, at)
    if at + wide > first + width then
      break
    elseif at >= first then
      part = part .. character
    elseif at + wide > first then
      part = part .. (" "):rep(at + wide - first)
    end
    at, bytes = at + wide, bytes + #character
  end
  return part, bytes
end

--- The rows in which a line is shown: several if the window wraps it.
---@param chunks { [1]: string, [2]?: string }[]
---@param view azimuth.inline.View
---@return { [1]: string, [2]?: string }[][]
local function rows_of(chunks, view)
  local row, rows, room = {}, {}, view.width
  for _, chunk in ipairs(chunks) do
    local left = chunk[1]
    while view.wraps and vim.fn.strdisplaywidth(left) > room do
      local part, bytes = cells(left, 0, room)
      if bytes == 0 and room == view.width then
        break
      end
      table.insert(row, { part, chunk[2] })
      table.insert(rows, row)
      row, room, left = {}, view.width, left:sub(bytes + 1)
    end
    table.insert(row, { left, chunk[2] })
    room = room - vim.fn.strdisplaywidth(left)
  end
  table.insert(rows, row)
  return rows
end

---@class azimuth.inline.View
---@field width integer The cells of text in a row of the window.
---@field wraps boolean
---@field skipped integer The cells that are scrolled out to the left.
---@field room integer The rows below the cursor's.

---@return azimuth.inline.View
local function view()
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  return {
    width = math.max(1, info.width - info.textoff),
    wraps = vim.wo.wrap,
    skipped = vim.wo.wrap and 0 or vim.fn.winsaveview().leftcol,
    room = info.height - vim.fn.winline(),
  }
end

--- The lines below the cursor's.
---@param lines string[]
---@param after string The rest of the cursor's line, which would come after the last of them.
---@param seen azimuth.inline.View
---@return { [1]: string, [2]?: string }[][]
local function below(lines, after, seen)
  local virtual = {}
  for at, line in ipairs(lines) do
    local shown = M.expanded(line, 0)
    local chunks = { { shown, GROUP } }
    if at == #lines and after ~= "" then
      table.insert(chunks, { M.expanded(after, vim.fn.strdisplaywidth(shown)) })
    end
    if not is_011 and seen.skipped > 0 then
      local skipped = seen.skipped
      chunks = vim.tbl_map(function(chunk)
        local wide = vim.fn.strdisplaywidth(chunk[1])
        local rest = cells(chunk[1], skipped, math.max(0, wide - skipped))
        skipped = math.max(0, skipped - wide)
        return { rest, chunk[2] }
      end, chunks)
    end
    vim.list_extend(virtual, rows_of(chunks, seen))
  end
  return virtual
end

---@param bufnr integer
---@param own? integer The namespace; without it, that of ghost text.
function M.clear(bufnr, own)
  if vim.api.nvim_buf_is_valid(bufnr) then
    vim.api.nvim_buf_clear_namespace(bufnr, own or namespace, 0, -1)
  end
end

---@param spot azimuth.inline.Spot
---@param col integer
---@param options vim.api.keyset.set_extmark
local function mark(spot, col, options)
  options.hl_mode = "combine"
  options.priority = options.priority or PRIORITY
  -- The text comes and goes with the user's keys, and is no part of what undo restores.
  options.undo_restore = false
  vim.api.nvim_buf_set_extmark(spot.bufnr, spot.namespace or namespace, spot.row, col, options)
end

--- Says how many lines are below the window, as it must not scroll for them.
---@param count integer
---@return { [1]: string, [2]: string }?
local function more(count)
  return count > 0 and { (" … %s"):format(require("azimuth.text").plural(count, "more line")), "AzimuthHint" } or nil
end

--- Shows what is left of a suggestion at the cursor of the current window.
---@param spot azimuth.inline.Spot
---@param fit azimuth.inline.Fit
---@param note? string Such as its number among several.
function M.show(spot, fit, note)
  M.clear(spot.bufnr, spot.namespace)
  local seen = view()
  local line = vim.api.nvim_buf_get_lines(spot.bufnr, spot.row, spot.row + 1, false)[1]
  local column = vim.fn.strdisplaywidth(line:sub(1, spot.col))
  local lines = vim.split(fit.left, "\n", { plain = true })
  local head = table.remove(lines, 1)
  -- The text after the range belongs to the last line then, so it cannot stay in this one.
  local pieces = (#lines == 0 or fit.after == "") and suggestions.pieces(head, fit.replaces) or nil
  local virtual = below(lines, pieces and "" or fit.after, seen)
  local room = seen.room
  if seen.wraps then
    local cells_of_line = vim.fn.strdisplaywidth(line) + vim.fn.strdisplaywidth(head, column)
    room = room - math.floor(math.max(0, cells_of_line - 1) / seen.width) + math.floor(column / seen.width)
  end
  local hint = { more(math.max(0, #virtual - math.max(0, room))) }
  if note then
    table.insert(hint, { " " .. note, "AzimuthHint" })
  end
  if pieces then
    for at, piece in ipairs(pieces) do
      local stays = vim.fn.strdisplaywidth(fit.replaces:sub(1, piece.col), column)
      local chunks = { { M.expanded(piece.text, column + stays), GROUP } }
      mark(spot, spot.col + piece.col, {
        virt_text = at == #pieces and vim.list_extend(chunks, hint) or chunks,
        virt_text_pos = "inline",
      })
      column = column + vim.fn.strdisplaywidth(chunks[1][1], column + stays)
    end
    if #pieces == 0 and #hint > 0 then
      mark(spot, #line, { virt_text = hint, virt_text_pos = "inline" })
    end
  else
    local hidden = vim.fn.strdisplaywidth(line:sub(spot.col + 1), column)
    local shown = M.expanded(head, column)
    local chunks = { { shown, GROUP } }
    if #lines == 0 and fit.after ~= "" then
      table.insert(chunks, { M.expanded(fit.after, column + vim.fn.strdisplaywidth(shown, column)) })
    end
    vim.list_extend(chunks, hint)
    local width = 0
    for _, chunk in ipairs(chunks) do
      width = width + vim.fn.strdisplaywidth(chunk[1], column + width)
    end
    table.insert(chunks, { (" "):rep(math.max(0, hidden - width)) })
    mark(spot, spot.col, { virt_text = chunks, virt_text_pos = "overlay", priority = 4096 })
  end
  if #virtual > 0 then
    mark(spot, 0, { virt_lines = virtual, virt_lines_overflow = is_011 and "scroll" or nil })
  end
end

--- Shows only that there is a suggestion.
---@param spot azimuth.inline.Spot
function M.sign(spot)
  M.clear(spot.bufnr, spot.namespace)
  mark(spot, 0, { sign_text = SIGN, sign_hl_group = GROUP, number_hl_group = GROUP })
end

return M
