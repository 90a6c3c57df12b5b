--- Draws a suggested edit: old lines are tinted, new text is virtual. The line of the cursor does not move, so nothing
--- is put between the lines above it.

local changes = require("azimuth.inline.edits.change")
local ghost = require("azimuth.inline.draw")
local paint = require("azimuth.review.paint")
local text = require("azimuth.text")
local highlights = require("azimuth.highlights")
-- Its groups are those of review, which are made of the scheme's colours.
require("azimuth.review.highlights")

local M = {}

M.namespace = vim.api.nvim_create_namespace("azimuth.inline.edits")

highlights.groups = vim.tbl_extend("force", highlights.groups, {
  AzimuthEditAdd = "AzimuthAdd",
  AzimuthEditAddText = "AzimuthAddText",
  AzimuthEditDelete = "AzimuthDelete",
  AzimuthEditSign = "Changed",
  AzimuthEditHint = "Comment",
})
highlights.set()

local ADD, DELETE, HINT, SIGN = "AzimuthEditAdd", "AzimuthEditDelete", "AzimuthEditHint", "AzimuthEditSign"
--- Above what treesitter and language servers mark.
local PRIORITY = 190
--- The least cells in which new text is worth showing at the end of a line.
local LEAST_ROOM = 12
--- Before new lines that are shown behind another one.
local BRIEF = "↳ "
local is_011 = vim.fn.has("nvim-0.11") == 1

--- The way in which a hunk is drawn: `inline` in its line, `end` behind its line, `below` as lines of its own, `brief`
--- behind its line without most of its text, and `gone` if it only takes lines away.
---@alias azimuth.inline.Form "inline"|"end"|"below"|"brief"|"gone"

--- The current window.
---@class azimuth.inline.Seen
---@field bufnr integer
---@field row integer The cursor's line, from 0.
---@field col integer
---@field is_inserting boolean
---@field first integer The first line that is shown, from 0.
---@field last integer
---@field width integer The cells of text in a row.
---@field has_signs boolean True if a sign does not move the text aside.

--- True if the window has a column for signs already.
---@param bufnr integer
---@return boolean
local function has_signs(bufnr)
  local column = vim.wo.signcolumn
  if column == "number" then
    return vim.wo.number or vim.wo.relativenumber
  elseif not vim.startswith(column, "auto") then
    return column ~= "no"
  end
  local found = vim.api.nvim_buf_get_extmarks(bufnr, -1, 0, -1, { type = "sign", details = true, limit = 200 })
  return vim.iter(found):any(function(mark)
    return mark[4].ns_id ~= M.namespace and mark[4].sign_text ~= nil
  end)
end

--- Looks at the current window.
---@return azimuth.inline.Seen
function M.seen()
  local bufnr = vim.api.nvim_get_current_buf()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  return {
    bufnr = bufnr,
    row = cursor[1] - 1,
    col = cursor[2],
    is_inserting = vim.startswith(vim.api.nvim_get_mode().mode, "i"),
    first = vim.fn.line("w0") - 1,
    last = vim.fn.line("w$") - 1,
    width = math.max(10, info.width - info.textoff),
    has_signs = has_signs(bufnr),
  }
end

--- True if a line of the current window is on the screen, and not in a closed fold.
---@param seen azimuth.inline.Seen
---@param row integer
---@return boolean
function M.is_on_screen(seen, row)
  return row >= seen.first and row <= seen.last and vim.fn.foldclosed(row + 1) == -1
end

---@param bufnr integer
---@param row integer
---@return string
local function line_at(bufnr, row)
  return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
end

--- The cells that are free behind a line.
---@param seen azimuth.inline.Seen
---@param row integer
---@return integer
local function room(seen, row)
  local used = vim.fn.strdisplaywidth(line_at(seen.bufnr, row))
  if vim.wo.wrap then
    used = used == 0 and 0 or (used - 1) % seen.width + 1
  else
    used = used - vim.fn.winsaveview().leftcol
  end
  return seen.width - used - 2
end

--- The line below which the new lines come.
---@param change azimuth.inline.Change
---@param row integer
---@return integer
local function base_of(change, row)
  return row + math.max(0, #change.old - 1) - (#change.old == 0 and 1 or 0)
end

---@param change azimuth.inline.Change
---@return boolean
local function is_line(change)
  return #change.old == 1 and #change.new == 1
end

--- True if text in the cursor's line would come before the cursor and move it aside.
---@param pieces azimuth.inline.Piece[]
---@param seen azimuth.inline.Seen
---@return boolean
local function moves_cursor(pieces, seen)
  return vim.iter(pieces):any(function(piece)
    return piece.text ~= "" and piece.end_col < seen.col + (seen.is_inserting and 0 or 1)
  end)
end

--- True if a line with its pieces is no longer than the window is wide.
---@param line string
---@param pieces azimuth.inline.Piece[]
---@param seen azimuth.inline.Seen
---@return boolean
local function fits(line, pieces, seen)
  local width = vim.fn.strdisplaywidth(line)
  for _, piece in ipairs(pieces) do
    width = width + vim.fn.strdisplaywidth(piece.text)
  end
  return width <= seen.width
end

--- Chooses the form of a hunk.
---@param change azimuth.inline.Change
---@param row integer Where it is now.
---@param seen azimuth.inline.Seen
---@param before? azimuth.inline.Form The form that it has. What would move the text again is kept.
---@return azimuth.inline.Form
function M.form(change, row, seen, before)
  if #change.new == 0 then
    return "gone"
  elseif is_line(change) then
    local pieces, is_long = changes.pieces(change.old[1], change.new[1])
    local is_still = before == "inline" or row ~= seen.row or not moves_cursor(pieces, seen)
    if not is_long and is_still and fits(change.old[1], pieces, seen) then
      return "inline"
    end
    local region = changes.region(pieces, change.old[1], change.new[1])
    if vim.fn.strdisplaywidth(region) <= room(seen, row) then
      return "end"
    end
  end
  local base = base_of(change, row)
  if before == "below" then
    return "below"
  end
  local is_above = base < seen.row and base >= seen.first
  return (base < 0 or is_above) and "brief" or "below"
end

---@param bufnr integer
---@param row integer
---@param col integer
---@param options vim.api.keyset.set_extmark
local function mark(bufnr, row, col, options)
  options.priority = options.priority or PRIORITY
  options.undo_restore = false
  options.strict = false
  vim.api.nvim_buf_set_extmark(bufnr, M.namespace, row, col, options)
end

---@param bufnr integer
---@param row integer
---@param col integer
---@param end_col integer
---@param group string
local function tint(bufnr, row, col, end_col, group)
  if end_col > col then
    mark(bufnr, row, col, { end_row = row, end_col = end_col, hl_group = group })
  end
end

---@param bufnr integer
---@param row integer
---@param pieces azimuth.inline.Piece[]
local function draw_pieces(bufnr, row, pieces)
  local line = line_at(bufnr, row)
  for _, piece in ipairs(pieces) do
    tint(bufnr, row, piece.col, piece.end_col, DELETE)
    if piece.text ~= "" then
      local column = vim.fn.strdisplaywidth(line:sub(1, piece.end_col))
      local chunks = { { ghost.expanded(piece.text, column), ADD } }
      mark(bufnr, row, piece.end_col, { virt_text = chunks, virt_text_pos = "inline" })
    end
  end
end

--- Puts words behind a line.
---@param bufnr integer
---@param row integer
---@param chunks { [1]: string, [2]: string }[]
---@param seen azimuth.inline.Seen
local function behind(bufnr, row, chunks, seen)
  local width = 0
  for _, chunk in ipairs(chunks) do
    width = width + vim.fn.strdisplaywidth(chunk[1])
  end
  if width <= room(seen, row) then
    table.insert(chunks, 1, { " " })
    mark(bufnr, row, 0, { virt_text = chunks, virt_text_pos = "eol", hl_mode = "combine" })
  else
    mark(bufnr, row, 0, { virt_text = chunks, virt_text_pos = "right_align" })
  end
end

--- The first of the new lines, and the number of the others.
---@param change azimuth.inline.Change
---@param seen azimuth.inline.Seen
---@param row integer The line behind which it comes.
---@return { [1]: string, [2]: string }[]
local function in_brief(change, seen, row)
  local more = #change.new - 1
  local words = more > 0 and (" … %s"):format(text.plural(more, "more line")) or ""
  local free = room(seen, row) - vim.fn.strdisplaywidth(BRIEF .. words)
  if free < LEAST_ROOM then
    return { { text.plural(#change.new, "new line"), HINT } }
  end
  local first = vim.fn.strtrans(vim.trim(change.new[1]))
  return { { BRIEF, HINT }, { text.shortened(first, free), ADD }, { words, HINT } }
end

--- The words that go from the old lines, where the new ones keep others.
---@param bufnr integer
---@param row integer
---@param change azimuth.inline.Change
local function tint_lines(bufnr, row, change)
  if #change.old > 0 then
    mark(bufnr, row, 0, { end_row = row + #change.old, end_col = 0, hl_group = DELETE, hl_eol = true })
  end
end

--- The new lines with their syntax, filled up to the width of the window.
---@param change azimuth.inline.Change
---@param row integer
---@param seen azimuth.inline.Seen
---@return azimuth.review.Chunk[][]
local function new_lines(change, row, seen)
  local hunk = {
    hunkId = change.id,
    oldText = table.concat(change.old, "\n") .. (#change.old > 0 and "\n" or ""),
    newText = table.concat(change.new, "\n") .. "\n",
  }
  local language = vim.treesitter.language.get_lang(vim.bo[seen.bufnr].filetype)
  local lines = vim.api.nvim_buf_get_lines(seen.bufnr, 0, -1, false)
  local source = paint.source(lines, { { hunk = hunk, row = row } }, language)
  local drawn = {}
  for _, chunks in ipairs(paint.added(hunk, source, vim.bo[seen.bufnr].tabstop, ADD, "AzimuthEditAddText")) do
    vim.list_extend(drawn, paint.fitted(chunks, seen.width, ADD))
  end
  return drawn
end

--- The rows of the window that are left below a line; nil if it is not on the screen.
---@param row integer
---@return integer?
local function rows_below(row)
  local window = vim.api.nvim_get_current_win()
  local last = vim.fn.getwininfo(window)[1].winrow + vim.api.nvim_win_get_height(window) - 1
  local line = vim.api.nvim_buf_get_lines(0, row, row + 1, false)[1] or ""
  -- The end of a line that is wrapped; of one that is not, any column that the window shows.
  local column = math.max(1, #line)
  if not vim.wo.wrap then
    column = math.max(1, vim.fn.virtcol2col(window, row + 1, vim.fn.winsaveview().leftcol + 1))
  end
  local at = vim.fn.screenpos(window, row + 1, column).row
  return at > 0 and last - at or nil
end

--- Draws the new lines, and says how many of them are below the window, as it must not scroll for them.
---@param change azimuth.inline.Change
---@param row integer Where it is now.
---@param base integer
---@param seen azimuth.inline.Seen
local function draw_lines(change, row, base, seen)
  local lines = new_lines(change, row, seen)
  local overflow = is_011 and "scroll" or nil
  mark(seen.bufnr, base, 0, { virt_lines = lines, virt_lines_overflow = overflow })
  local hidden = #lines - (rows_below(base) or #lines)
  if hidden > 0 then
    behind(seen.bufnr, base, { { ("… %s"):format(text.plural(hidden, "new line")), HINT } }, seen)
  end
end

---@param bufnr integer
---@param row integer
---@param seen azimuth.inline.Seen
---@param is_forced? boolean True if there is nothing but the sign.
local function sign(bufnr, row, seen, is_forced)
  local has_sign = is_forced or seen.has_signs
  mark(bufnr, row, 0, {
    sign_text = has_sign and "»" or nil,
    sign_hl_group = has_sign and SIGN or nil,
    number_hl_group = SIGN,
  })
end

--- Draws a hunk.
---@param change azimuth.inline.Change
---@param row integer Where it is now.
---@param form azimuth.inline.Form
---@param seen azimuth.inline.Seen
function M.hunk(change, row, form, seen)
  local bufnr = seen.bufnr
  local base = math.max(0, base_of(change, row))
  if form == "inline" or form == "end" then
    local pieces = changes.pieces(change.old[1], change.new[1])
    if form == "inline" then
      draw_pieces(bufnr, row, pieces)
    else
      for _, piece in ipairs(pieces) do
        tint(bufnr, row, piece.col, piece.end_col, DELETE)
      end
      local region = vim.fn.strtrans(changes.region(pieces, change.old[1], change.new[1]))
      behind(bufnr, row, { { region, ADD } }, seen)
    end
  else
    tint_lines(bufnr, row, change)
  end
  if form == "below" then
    draw_lines(change, row, base, seen)
  elseif form == "brief" then
    behind(bufnr, base, in_brief(change, seen, base), seen)
  end
  sign(bufnr, #change.old > 0 and row or base, seen)
end

--- Shows only that there is a hunk.
---@param change azimuth.inline.Change
---@param row integer Where it is now.
---@param seen azimuth.inline.Seen
function M.hunk_sign(change, row, seen)
  sign(seen.bufnr, #change.old > 0 and row or math.max(0, base_of(change, row)), seen, true)
end

--- Shows only that there is an edit elsewhere.
---@param seen azimuth.inline.Seen
function M.hint_sign(seen)
  sign(seen.bufnr, seen.row, seen, true)
end

--- Says at the cursor where the edit is.
---@param words string
---@param seen azimuth.inline.Seen
function M.hint(words, seen)
  behind(seen.bufnr, seen.row, { { words, HINT } }, seen)
end

---@param bufnr integer
function M.clear(bufnr)
  ghost.clear(bufnr, M.namespace)
end

return M
