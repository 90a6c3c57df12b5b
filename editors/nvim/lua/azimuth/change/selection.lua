--- The code that an instruction is about: ranges of a buffer, which move with its text.

local text = require("azimuth.text")
local positions = require("azimuth.position")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.change.selection")

--- The longest part of a line that a title quotes, in cells.
local MAX_QUOTED = 32

---@alias azimuth.change.Kind "lines"|"part"|"block"|"cursor"|"whole"

---@class azimuth.change.Span Rows and bytes, from 0. The end is exclusive.
---@field row integer
---@field col integer
---@field end_row integer
---@field end_col integer

---@class azimuth.change.Selection
---@field bufnr integer
---@field kind azimuth.change.Kind
---@field marks integer[] One for each range. Of the whole buffer there is one at the cursor's line.
---@field parked? azimuth.change.Span[] The ranges while the buffer is not loaded: it has no marks then.

---@param bufnr integer
---@param row integer
---@return string
local function line_at(bufnr, row)
  return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
end

---@param bufnr integer
---@param spans azimuth.change.Span[]
---@return integer[] marks
local function set_marks(bufnr, spans)
  return vim.tbl_map(function(span)
    return vim.api.nvim_buf_set_extmark(bufnr, namespace, span.row, span.col, {
      end_row = span.end_row,
      end_col = span.end_col,
      right_gravity = false,
      end_right_gravity = true,
      strict = false,
    })
  end, spans)
end

---@param bufnr integer
---@param kind azimuth.change.Kind
---@param spans azimuth.change.Span[]
---@return azimuth.change.Selection
local function marked(bufnr, kind, spans)
  return { bufnr = bufnr, kind = kind, marks = set_marks(bufnr, spans) }
end

--- The selection of some lines. All lines are the whole buffer.
---@param bufnr integer
---@param first integer From 0.
---@param last integer
---@return azimuth.change.Selection
function M.lines(bufnr, first, last)
  local count = vim.api.nvim_buf_line_count(bufnr)
  if first == 0 and last >= count - 1 and count > 1 then
    local row = vim.api.nvim_win_get_cursor(0)[1] - 1
    return marked(bufnr, "whole", { { row = row, col = 0, end_row = row, end_col = 0 } })
  end
  last = math.min(last, count - 1)
  return marked(bufnr, "lines", { { row = first, col = 0, end_row = last, end_col = #line_at(bufnr, last) } })
end

--- The byte behind the character at a byte of a line.
---@param line string
---@param col integer
---@return integer
local function behind(line, col)
  if col >= #line then
    return #line
  end
  return math.min(#line, col + 1 + vim.str_utf_end(line, col + 1))
end

--- The ranges of a block, one for each line that reaches into it.
---@param from integer[] As `getpos()` gives it.
---@param to integer[]
---@return azimuth.change.Span[]
local function block(from, to)
  local function columns(at)
    local edges = vim.fn.virtcol({ at[2], at[3] }, true)
    return edges[1], edges[2]
  end
  local from_left, from_right = columns(from)
  local to_left, to_right = columns(to)
  local left, right = math.min(from_left, to_left), math.max(from_right, to_right)
  local to_end = vim.fn.winsaveview().curswant >= vim.v.maxcol
  local spans = {}
  for lnum = math.min(from[2], to[2]), math.max(from[2], to[2]) do
    local line = vim.fn.getline(lnum)
    local width = vim.fn.virtcol({ lnum, "$" }) - 1
    if width >= left then
      local col = vim.fn.virtcol2col(0, lnum, left) - 1
      local end_col = (to_end or right >= width) and #line or behind(line, vim.fn.virtcol2col(0, lnum, right) - 1)
      table.insert(spans, { row = lnum - 1, col = col, end_row = lnum - 1, end_col = end_col })
    end
  end
  return spans
end

--- The selection of visual mode, or the cursor.
---@return azimuth.change.Selection
function M.here()
  local bufnr = vim.api.nvim_get_current_buf()
  local mode = vim.fn.mode()
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  if mode == "V" then
    return M.lines(bufnr, math.min(from[2], to[2]) - 1, math.max(from[2], to[2]) - 1)
  elseif mode == "\22" then
    return marked(bufnr, "block", block(from, to))
  elseif mode == "v" then
    if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
      from, to = to, from
    end
    local line = line_at(bufnr, to[2] - 1)
    local end_col = vim.o.selection == "exclusive" and to[3] - 1 or behind(line, to[3] - 1)
    return marked(bufnr, "part", { { row = from[2] - 1, col = from[3] - 1, end_row = to[2] - 1, end_col = end_col } })
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local row, col = cursor[1] - 1, cursor[2]
  return marked(bufnr, "cursor", { { row = row, col = col, end_row = row, end_col = col } })
end

--- The selection of a range of the language client: an empty one is a cursor.
---@param bufnr integer
---@param range lsp.Range
---@param encoding string
---@return azimuth.change.Selection
function M.of_range(bufnr, range, encoding)
  local function bytes(at)
    return positions.byte(encoding, line_at(bufnr, at.line), at.character)
  end
  local from, to = range.start, range["end"]
  local span = { row = from.line, col = bytes(from), end_row = to.line, end_col = bytes(to) }
  if span.row == span.end_row and span.col == span.end_col then
    return marked(bufnr, "cursor", { span })
  elseif span.end_row > span.row and span.end_col == 0 then
    span.end_row = span.end_row - 1
    span.end_col = #line_at(bufnr, span.end_row)
  end
  if span.col == 0 and span.end_col == #line_at(bufnr, span.end_row) then
    return M.lines(bufnr, span.row, span.end_row)
  end
  return marked(bufnr, "part", { span })
end

--- The ranges as they are now.
---@param selection azimuth.change.Selection
---@return azimuth.change.Span[]
function M.spans(selection)
  if selection.parked then
    return selection.parked
  end
  local spans = {}
  for _, mark in ipairs(selection.marks) do
    local at = vim.api.nvim_buf_get_extmark_by_id(selection.bufnr, namespace, mark, { details = true })
    if at[1] then
      local span = { row = at[1], col = at[2], end_row = at[3].end_row or at[1], end_col = at[3].end_col or at[2] }
      -- Lines that were replaced as a whole end where the next one begins.
      if selection.kind == "lines" and span.end_col == 0 and span.end_row > span.row then
        span.end_row = span.end_row - 1
        span.end_col = #line_at(selection.bufnr, span.end_row)
      end
      table.insert(spans, span)
    end
  end
  return spans
end

--- The ranges as the server counts them; none for the whole buffer.
---@param selection azimuth.change.Selection
---@param encoding string
---@return azimuth.Range[]
function M.ranges(selection, encoding)
  if selection.kind == "whole" then
    return {}
  end
  local bufnr = selection.bufnr
  local count = vim.api.nvim_buf_line_count(bufnr)
  return vim.tbl_map(function(span)
    local function position(row, col)
      return { line = row, character = positions.character(encoding, line_at(bufnr, row), col) }
    end
    local stop = position(span.end_row, span.end_col)
    -- Whole lines end where the next one begins, also behind the last one if it has an end.
    if selection.kind == "lines" and (span.end_row < count - 1 or vim.bo[bufnr].endofline) then
      stop = { line = span.end_row + 1, character = 0 }
    end
    return { start = position(span.row, selection.kind == "lines" and 0 or span.col), ["end"] = stop }
  end, M.spans(selection))
end

--- The first row and the last row, from 0; of the whole buffer, those of the cursor when it was selected.
---@param selection azimuth.change.Selection
---@return integer first
---@return integer last
function M.rows(selection)
  local spans = M.spans(selection)
  local first, last = math.huge, 0
  for _, span in ipairs(spans) do
    first, last = math.min(first, span.row), math.max(last, span.end_row)
  end
  return #spans > 0 and first or 0, last
end

--- True if one of some rows is selected.
---@param selection azimuth.change.Selection
---@param first integer From 0.
---@param last integer
---@return boolean
function M.touches(selection, first, last)
  return vim.iter(M.spans(selection)):any(function(span)
    return span.row <= last and span.end_row >= first
  end)
end

--- A few words on what is selected.
---@param selection azimuth.change.Selection
---@return string
function M.words(selection)
  local spans = M.spans(selection)
  local first, last = M.rows(selection)
  local lines = first == last and ("line %d"):format(first + 1) or ("lines %d–%d"):format(first + 1, last + 1)
  if selection.kind == "whole" then
    return "the whole file"
  elseif selection.kind == "cursor" then
    return lines
  elseif #spans > 1 then
    return ("%d selections in %s"):format(#spans, lines)
  elseif selection.kind == "part" and first == last and spans[1] then
    local part = line_at(selection.bufnr, first):sub(spans[1].col + 1, spans[1].end_col)
    return ("“%s”"):format(text.shortened(vim.fn.strtrans(vim.trim(part)), MAX_QUOTED))
  elseif selection.kind == "part" then
    return "a part of " .. lines
  end
  return lines
end

--- A selection of ranges in a buffer that may not be loaded.
---@param bufnr integer
---@param kind azimuth.change.Kind
---@param spans azimuth.change.Span[]
---@return azimuth.change.Selection
function M.of_spans(bufnr, kind, spans)
  local selection = { bufnr = bufnr, kind = kind, marks = {}, parked = spans }
  if vim.api.nvim_buf_is_loaded(bufnr) then
    M.unpark(selection)
  end
  return selection
end

--- Keeps the ranges while the buffer is not loaded, from before it is unloaded.
---@param selection azimuth.change.Selection
function M.park(selection)
  selection.parked = M.spans(selection)
  selection.marks = {}
end

--- Marks the ranges in the buffer, which is loaded again.
---@param selection azimuth.change.Selection
function M.unpark(selection)
  local count = vim.api.nvim_buf_line_count(selection.bufnr)
  local within = vim.tbl_map(function(span)
    local row, end_row = math.min(span.row, count - 1), math.min(span.end_row, count - 1)
    local col = math.min(span.col, #line_at(selection.bufnr, row))
    return { row = row, col = col, end_row = end_row, end_col = math.min(span.end_col, #line_at(selection.bufnr, end_row)) }
  end, selection.parked or {})
  selection.parked = nil
  selection.marks = set_marks(selection.bufnr, within)
end

--- Forgets a selection.
---@param selection azimuth.change.Selection
function M.forget(selection)
  for _, mark in ipairs(selection.marks) do
    pcall(vim.api.nvim_buf_del_extmark, selection.bufnr, namespace, mark)
  end
end

return M
