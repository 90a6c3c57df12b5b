--- The edits of an instruction while their calls still arrive, drawn in the text: what would go is marked, and what
--- would come is below it in virtual lines. Nothing of it is in the buffer, and the hunks of the review replace it.

local client = require("azimuth.client")
local marks = require("azimuth.review.marks")
local paint = require("azimuth.review.paint")
local selections = require("azimuth.change.selection")
local stream = require("azimuth.change.stream")
local text = require("azimuth.text")
require("azimuth.review.highlights")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.change.arriving")

--- That of the review's hunks.
local PRIORITY = 180
--- Lines are looked for in so many rows above and below what is selected.
local MAX_AROUND = 20000

---@class azimuth.change.Found
---@field tick integer The change of the text, and the size of the group.
---@field old integer
---@field comes boolean
---@field rows? azimuth.change.Rows

---@class azimuth.change.Call
---@field message_id azimuth.MessageId
---@field id azimuth.ToolCallId
---@field path string
---@field reader azimuth.change.Reader
---@field found azimuth.change.Found[] Of each group, when it was last looked for.
---@field is_here table<integer, boolean> True for the buffer of its file.

---@class azimuth.change.Canvas
---@field bufnr integer
---@field drawn integer[] The marks.
---@field hosts table<integer, azimuth.review.Chunk[][]> The virtual lines below each row.
---@field order integer[] These rows, in the order in which they were drawn.
---@field left integer The virtual lines that there is room for.
---@field more integer The lines that there was no room for.
---@field width integer
---@field wraps boolean

--- The calls that arrive, by session.
---@type table<string, azimuth.change.Call[]>
local calls = {}
--- The text in which lines were last looked for.
---@type { bufnr: integer, tick: integer, first: integer, text: azimuth.change.Text }?
local searched = nil

--- Takes in what a session says of its calls.
---@param session_id string
---@param event table
function M.take(session_id, event)
  if event.type == "editDelta" then
    local list = calls[session_id] or {}
    calls[session_id] = list
    local call = vim.iter(list):find(function(one)
      return one.message_id == event.messageId and one.id == event.toolCallId and one.path == event.path
    end)
    if not call then
      call = { message_id = event.messageId, id = event.toolCallId, path = event.path, reader = stream.reader() }
      call.found, call.is_here = {}, {}
      table.insert(list, call)
    end
    stream.add(call.reader, event.text)
  elseif event.type == "turnStarted" or event.type == "turnEnded" or event.type == "messageDiscarded" then
    calls[session_id] = nil
  end
end

--- True if a call arrives in a session.
---@param session_id string
---@return boolean
function M.any(session_id)
  return calls[session_id] ~= nil
end

--- Forgets the calls of a session, or of one of its messages.
---@param session_id string
---@param message_id? azimuth.MessageId
function M.forget(session_id, message_id)
  local rest = vim.tbl_filter(function(call)
    return message_id ~= nil and call.message_id ~= message_id
  end, calls[session_id] or {})
  calls[session_id] = #rest > 0 and rest or nil
end

--- Forgets all calls: the server has ended.
function M.forget_all()
  calls = {}
end

--- True if a path, as the model names it, is that of a buffer.
---@param path string
---@param bufnr integer
---@return boolean
local function is_path_of(path, bufnr)
  local server = client.lsp_client()
  local root = server and server.config.root_dir or vim.fn.getcwd()
  local name = vim.fs.normalize(vim.api.nvim_buf_get_name(bufnr))
  local full = vim.fs.normalize(path:find("^[/\\]") and path or path:find("^%a:[/\\]") and path or root .. "/" .. path)
  return full == name or vim.uv.fs_realpath(full) == (vim.uv.fs_realpath(name) or false)
end

--- The text around some rows.
---@param bufnr integer
---@param first integer
---@param last integer
---@return azimuth.change.Text
local function text_around(bufnr, first, last)
  local tick = vim.api.nvim_buf_get_changedtick(bufnr)
  first = math.max(0, first - MAX_AROUND)
  if not searched or searched.bufnr ~= bufnr or searched.tick ~= tick or searched.first ~= first then
    local lines = vim.api.nvim_buf_get_lines(bufnr, first, last + MAX_AROUND + 1, false)
    searched = { bufnr = bufnr, tick = tick, first = first, text = stream.text(lines, first) }
  end
  return searched.text
end

--- True if the user types below a row in the current window: virtual lines there would move what is being typed.
---@param bufnr integer
---@param row integer
---@return boolean
local function is_typed_below(bufnr, row)
  return vim.api.nvim_get_current_buf() == bufnr
    and vim.api.nvim_get_mode().mode:find("^[iR]") ~= nil
    and vim.api.nvim_win_get_cursor(0)[1] - 1 > row
end

---@param canvas azimuth.change.Canvas
---@param row integer
---@param options table
local function mark(canvas, row, options)
  options.strict, options.priority = false, PRIORITY
  table.insert(canvas.drawn, vim.api.nvim_buf_set_extmark(canvas.bufnr, namespace, row, 0, options))
end

--- Adds lines that come below a row, as far as there is room.
---@param canvas azimuth.change.Canvas
---@param row integer
---@param added string[]
local function draw_added(canvas, row, added)
  for at, line in ipairs(added) do
    if canvas.left <= 0 or is_typed_below(canvas.bufnr, row) then
      canvas.more = canvas.more + #added - at + 1
      return
    end
    if not canvas.hosts[row] then
      canvas.hosts[row] = {}
      table.insert(canvas.order, row)
    end
    local chunks = paint.plain(line, vim.bo[canvas.bufnr].tabstop, "AzimuthAdd")
    local lines = canvas.wraps and paint.fitted(chunks, canvas.width, "AzimuthAdd") or { chunks }
    vim.list_extend(canvas.hosts[row], lines)
    canvas.left = canvas.left - #lines
  end
end

---@param canvas azimuth.change.Canvas
---@param call azimuth.change.Call
---@param spans azimuth.change.Span[]
---@param below integer The row below which lines come whose location is not known.
---@param around azimuth.change.Text
local function draw_call(canvas, call, spans, below, around)
  local arriving = stream.arriving(call.reader)
  local tick = vim.api.nvim_buf_get_changedtick(canvas.bufnr)
  local before = nil
  for at, group in ipairs(call.reader.groups) do
    local is_last = at == #call.reader.groups
    local coming = is_last and arriving:sub(1, 1) == "+" and arriving:sub(2) or nil
    local comes = #group.added > 0 or coming ~= nil
    local found = call.found[at]
    if not found or found.tick ~= tick or found.old ~= #group.old or found.comes ~= comes then
      found = { tick = tick, old = #group.old, comes = comes, rows = stream.find(around, group, spans, comes, before) }
      call.found[at] = found
    end
    before = found.rows
    for _, piece in ipairs(stream.pieces(group, coming)) do
      local host = before and before.first + piece.below - 1 or below
      if before and piece.last >= piece.first then
        local first, stop = before.first + piece.first - 1, before.first + piece.last
        mark(canvas, first, { end_row = stop, end_col = 0, hl_group = "AzimuthDelete", hl_eol = true })
      end
      -- Above the first line of a text, nothing can be seen.
      draw_added(canvas, host >= 0 and host or before.stop - 1, piece.added)
    end
  end
end

--- Takes away what was drawn.
---@param bufnr integer
---@param drawn integer[]
function M.hide(bufnr, drawn)
  for _, id in ipairs(drawn) do
    pcall(vim.api.nvim_buf_del_extmark, bufnr, namespace, id)
  end
end

---@param selection azimuth.change.Selection
---@param session_id string
---@param canvas azimuth.change.Canvas
local function draw(selection, session_id, canvas)
  local bufnr = canvas.bufnr
  local first, last = selections.rows(selection)
  local spans = selections.spans(selection)
  if selection.kind == "whole" then
    spans = { { row = 0, col = 0, end_row = vim.api.nvim_buf_line_count(bufnr) - 1, end_col = 0 } }
  end
  for _, call in ipairs(calls[session_id] or {}) do
    if call.is_here[bufnr] == nil then
      call.is_here[bufnr] = is_path_of(call.path, bufnr)
    end
    if call.is_here[bufnr] then
      draw_call(canvas, call, spans, last, text_around(bufnr, first, last))
    end
  end
  for at, row in ipairs(canvas.order) do
    local lines = canvas.hosts[row]
    if at == #canvas.order and canvas.more > 0 then
      table.insert(lines, { { " … " .. text.plural(canvas.more, "more line"), "AzimuthHint" } })
    end
    mark(canvas, row, { virt_lines = lines })
  end
end

--- Draws the calls of a session that are about the buffer of a selection, in place of what was drawn.
---@param selection azimuth.change.Selection
---@param session_id string
---@param drawn integer[] What was drawn.
---@return integer[] drawn
function M.show(selection, session_id, drawn)
  local bufnr = selection.bufnr
  M.hide(bufnr, drawn)
  local width, height, wraps = marks.room(bufnr)
  local canvas = { bufnr = bufnr, drawn = {}, hosts = {}, order = {}, more = 0, width = width, wraps = wraps }
  canvas.left = math.max(5, math.floor(height / 2))
  -- The drawing is repeated many times a second and can be done without; an error must not stop the user's typing.
  local ok, problem = xpcall(draw, debug.traceback, selection, session_id, canvas)
  if not ok then
    M.hide(bufnr, canvas.drawn)
    canvas.drawn = {}
    vim.lsp.log.error("azimuth", problem)
  end
  return canvas.drawn
end

return M
