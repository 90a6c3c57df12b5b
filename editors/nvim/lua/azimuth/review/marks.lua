--- Open hunks in the documents they belong to, as extmarks: what goes is marked, what comes stands below it as virtual
--- lines. Where a hunk is in the document already, what came is marked, and what went stands above it. Between two words of
--- the server the editor itself moves the marks with the text.

local hunks = require("azimuth.review.hunks")
local keys = require("azimuth.review.keys")
local paint = require("azimuth.review.paint")
local text = require("azimuth.text")

local M = {}

local namespace = vim.api.nvim_create_namespace("azimuth.review")
local hints = vim.api.nvim_create_namespace("azimuth.review.hints")

--- Above what treesitter and language servers mark.
local PRIORITY = 180

---@class azimuth.review.Shown
---@field proposal azimuth.Proposal
---@field hunk azimuth.Hunk Turned to the document, see `hunks.facing`.
---@field mark integer
---@field height integer How many lines it replaces.

---@type table<integer, azimuth.review.Shown[]>
local shown = {}
--- The proposals that each buffer was told to show, and the width it was drawn for.
---@type table<integer, { proposals: azimuth.Proposal[], width: integer }>
local drawn_for = {}
--- The painted text of each hunk; an id stays only with its content.
---@type table<string, { added: azimuth.review.Chunk[][], old: azimuth.review.Span[] }>
local painted = {}
--- Buffers in which a diff view shows the hunks already, with the number of such views.
---@type table<integer, integer>
local plain = {}

---@param bufnr integer
---@param row integer
---@param lines string[]
---@return boolean
local function reads(bufnr, row, lines)
  if row < 0 then
    return false
  end
  return vim.deep_equal(vim.api.nvim_buf_get_lines(bufnr, row, row + #lines, false), lines)
end

--- True if a hunk's lines, or for an insertion its neighbours, are at a row.
---@param bufnr integer
---@param hunk azimuth.Hunk
---@param row integer
---@return boolean
local function fits(bufnr, hunk, row)
  local old = hunks.lines(hunk.oldText)
  if #old > 0 then
    return reads(bufnr, row, old)
  end
  local above, below = hunks.lines(hunk.lineBefore or ""), hunks.lines(hunk.lineAfter or "")
  return reads(bufnr, row - #above, above) and reads(bufnr, row, below)
end

--- Where a hunk stands now. The server may not have heard of the last keys, so its word counts where the text agrees,
--- then the mark's.
---@param bufnr integer
---@param hunk azimuth.Hunk
---@param marked? integer The row of its mark.
---@return integer
local function row_of(bufnr, hunk, marked)
  local row = hunk.startLine
  if hunk.state == "pending" and marked and not fits(bufnr, hunk, row) and fits(bufnr, hunk, marked) then
    row = marked
  end
  return math.min(row, vim.api.nvim_buf_line_count(bufnr))
end

--- The cells for text, and the lines, of the smallest window of a buffer.
---@param bufnr integer
---@return integer width
---@return integer height
---@return boolean wraps
function M.room(bufnr)
  local width, height, wraps = vim.o.columns, vim.o.lines, true
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(window)[1]
    width = math.min(width, info.width - info.textoff)
    height = math.min(height, info.height)
    wraps = wraps and vim.wo[window].wrap
  end
  return math.max(width, 10), height, wraps
end

---@param bufnr integer
---@return boolean
local function is_empty(bufnr)
  return vim.api.nvim_buf_line_count(bufnr) == 1 and vim.api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
end

---@param bufnr integer
---@param hunk azimuth.Hunk
---@param source azimuth.review.Source
---@param base string
---@param emphasis string
local function paint_once(bufnr, hunk, source, base, emphasis)
  local key = table.concat({ hunk.hunkId, base, hunk.newText }, "\0")
  if not painted[key] then
    painted[key] = {
      added = paint.added(hunk, source, vim.bo[bufnr].tabstop, base, emphasis),
      old = (hunks.words(hunk)),
    }
  end
  return painted[key]
end

--- Returns what the user said of a hunk, as virtual lines.
---@param hunk azimuth.Hunk
---@param width integer
---@return azimuth.review.Chunk[][]
local function comment_lines(hunk, width)
  local lines = {}
  for _, comment in ipairs(hunk.comments or {}) do
    for at, line in ipairs(text.lines(comment)) do
      local words = (at == 1 and "You: " or "     ") .. vim.fn.strtrans(line)
      vim.list_extend(lines, paint.fitted({ { words, "AzimuthDim" } }, width, "AzimuthDim"))
    end
  end
  return lines
end

--- The virtual lines of a hunk, no more than a window can show.
---@param hunk azimuth.Hunk
---@param landed boolean
---@param paints table What was painted of it.
---@param base string
---@param width integer
---@param height integer
---@param wraps boolean
---@return azimuth.review.Chunk[][]
local function virtual_lines(hunk, landed, paints, base, width, height, wraps)
  local lines = {}
  if hunk.state == "conflicted" then
    local why = landed and "! In conflict: the text has changed since, so this cannot be taken back. Keep it, or change it yourself."
      or "! In conflict: the text above has changed. Reject this, or ask again."
    vim.list_extend(lines, paint.fitted({ { why, base } }, width, base))
  end
  local comments = comment_lines(hunk, width)
  local limit = math.max(5, height - #hunks.lines(hunk.oldText) - 3 - #comments)
  for at, chunks in ipairs(paints.added) do
    if #lines >= limit then
      local rest = (" … %d more lines; %s shows all"):format(#paints.added - at + 1, keys.shown("diff"))
      table.insert(lines, { { rest, "AzimuthHint" } })
      break
    end
    vim.list_extend(lines, wraps and paint.fitted(chunks, width, base) or { chunks })
  end
  return vim.list_extend(lines, comments)
end

--- The sign of a hunk, and its group.
---@param hunk azimuth.Hunk
---@param landed boolean
---@return string sign
---@return string group
local function sign(hunk, landed)
  local before, after = hunk.oldText, hunk.newText
  if landed then
    before, after = after, before
  end
  if hunk.state == "conflicted" then
    return "!", "AzimuthConflictSign"
  elseif before == "" then
    return "+", "AzimuthAddSign"
  elseif after == "" then
    return "-", "AzimuthDeleteSign"
  end
  return "~", "AzimuthChangeSign"
end

---@param bufnr integer
---@param row integer
---@param column integer
---@param options table
---@return integer
local function mark(bufnr, row, column, options)
  options.strict = false
  options.priority = options.priority or PRIORITY
  return vim.api.nvim_buf_set_extmark(bufnr, namespace, row, column, options)
end

---@class azimuth.review.Canvas
---@field source azimuth.review.Source
---@field width integer
---@field height integer
---@field wraps boolean

---@param bufnr integer
---@param proposal azimuth.Proposal
---@param hunk azimuth.Hunk
---@param row integer
---@param canvas azimuth.review.Canvas
---@return azimuth.review.Shown
local function draw(bufnr, proposal, hunk, row, canvas)
  local height = #hunks.lines(hunk.oldText)
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  local anchor = mark(bufnr, math.min(row, last), 0, { end_row = row + height, end_col = 0, right_gravity = height > 0 })
  local drawn = { proposal = proposal, hunk = hunk, mark = anchor, height = height, after_end = row > last }
  if plain[bufnr] then
    return drawn
  end
  local landed = proposal.landed == true
  local letter, group = sign(hunk, landed)
  -- The highlights of what stands in the document, and of what does not.
  local here, away = "AzimuthDelete", "AzimuthAdd"
  if landed then
    here, away = away, here
  end
  local base = hunk.state == "conflicted" and "AzimuthConflict" or away
  local paints = paint_once(bufnr, hunk, canvas.source, base, away .. "Text")
  local lines = virtual_lines(hunk, landed, paints, base, canvas.width, canvas.height, canvas.wraps)
  if height > 0 and hunk.state == "pending" then
    mark(bufnr, row, 0, { end_row = row + height, end_col = 0, hl_group = here, hl_eol = true })
    for _, span in ipairs(paints.old) do
      mark(bufnr, row + span.row, span.from, {
        end_row = row + span.row,
        end_col = span.to,
        hl_group = here .. "Text",
        priority = PRIORITY + 1,
      })
    end
  end
  -- An insertion, and what was there before, hang below the line above them. At the very top there is none, but for an empty
  -- document's only line.
  local hangs = height == 0 or landed
  local above = hangs and row == 0 and #lines > 0 and not is_empty(bufnr)
  local host = math.max(0, math.min(hangs and row - 1 or row + height - 1, last))
  mark(bufnr, math.min(height > 0 and row or host, last), 0, { sign_text = letter, sign_hl_group = group })
  mark(bufnr, host, 0, { virt_lines = lines, virt_lines_above = above })
  if above then
    for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
      vim.api.nvim_win_call(window, function()
        if vim.fn.line("w0") == 1 then
          vim.fn.winrestview({ topline = 1, topfill = #lines })
        end
      end)
    end
  end
  return drawn
end

--- The buffer's text with its pending hunks.
---@param bufnr integer
---@param places { hunk: azimuth.Hunk, row: integer }[]
---@return azimuth.review.Source
local function source_of(bufnr, places)
  local filetype = vim.bo[bufnr].filetype
  local language = filetype ~= "" and vim.treesitter.language.get_lang(filetype) or nil
  return paint.source(language and vim.api.nvim_buf_get_lines(bufnr, 0, -1, false) or {}, places, language)
end

--- Shows the open hunks of some proposals in a buffer, in place of what was shown.
---@param bufnr integer
---@param proposals azimuth.Proposal[]
function M.show(bufnr, proposals)
  local before = {}
  for _, old in ipairs(shown[bufnr] or {}) do
    before[old.hunk.hunkId] = M.row(bufnr, old)
  end
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local places, pending = {}, {}
  for _, proposal in ipairs(proposals) do
    for _, open in ipairs(hunks.open(proposal)) do
      local hunk = hunks.facing(proposal, open)
      local place = { proposal = proposal, hunk = hunk, row = row_of(bufnr, hunk, before[hunk.hunkId]) }
      table.insert(places, place)
      if hunk.state == "pending" then
        table.insert(pending, place)
      end
    end
  end
  local list = {}
  if #places > 0 then
    local width, height, wraps = M.room(bufnr)
    local canvas = { source = source_of(bufnr, pending), width = width, height = height, wraps = wraps }
    for _, place in ipairs(places) do
      table.insert(list, draw(bufnr, place.proposal, place.hunk, place.row, canvas))
    end
  end
  shown[bufnr] = #list > 0 and list or nil
  drawn_for[bufnr] = #list > 0 and { proposals = proposals, width = (M.room(bufnr)) } or nil
  if #list > 0 then
    keys.map(bufnr)
  else
    keys.unmap(bufnr)
  end
end

--- Buffers in which hunks are shown.
---@return integer[]
function M.buffers()
  return vim.tbl_keys(shown)
end

--- Forgets a buffer that is no more.
---@param bufnr integer
function M.forget(bufnr)
  shown[bufnr] = nil
  drawn_for[bufnr] = nil
  plain[bufnr] = nil
end

--- Forgets what was painted, after colours or languages changed.
function M.repaint()
  painted = {}
end

--- Shows only where hunks are while a diff view shows the rest.
---@param bufnr integer
---@param more 1|-1
function M.set_plain(bufnr, more)
  local views = (plain[bufnr] or 0) + more
  plain[bufnr] = views > 0 and views or nil
end

--- The row at which a shown hunk stands now, from 0.
---@param bufnr integer
---@param item azimuth.review.Shown
---@return integer
function M.row(bufnr, item)
  local at = vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, item.mark, {})
  return (at[1] or item.hunk.startLine) + (item.after_end and 1 or 0)
end

--- The hunks shown in a buffer, from top to bottom, with the row a user sees each at.
---@param bufnr integer
---@return { row: integer, last: integer, item: azimuth.review.Shown }[]
function M.list(bufnr)
  local list = {}
  for _, item in ipairs(shown[bufnr] or {}) do
    local at = vim.api.nvim_buf_get_extmark_by_id(bufnr, namespace, item.mark, { details = true })
    local row = M.row(bufnr, item)
    if item.height == 0 then
      row = math.max(0, row - 1)
      table.insert(list, { row = row, last = row, item = item })
    else
      local stop = at[3] and at[3].end_row or row + item.height
      table.insert(list, { row = row, last = math.max(row, stop - 1), item = item })
    end
  end
  table.sort(list, function(one, other)
    return one.row < other.row
  end)
  return list
end

--- The hunks at some lines of a buffer, from 0, the last one included.
---@param bufnr integer
---@param first integer
---@param last integer
---@return azimuth.review.Shown[]
function M.at(bufnr, first, last)
  local found = {}
  for _, place in ipairs(M.list(bufnr)) do
    if place.row <= last and place.last >= first then
      table.insert(found, place.item)
    end
  end
  return found
end

--- Draws a buffer anew where its windows have become wider or narrower, as they do by our own signs.
---@param bufnr integer
local function refit(bufnr)
  local last = drawn_for[bufnr]
  if last and vim.api.nvim_buf_is_loaded(bufnr) and M.room(bufnr) ~= last.width then
    M.show(bufnr, last.proposals)
  end
end

-- The first hunk that can be seen says by which keys it is decided: of two at one row the one that these keys mean there.
local hint_row, hint_item = nil, nil
vim.api.nvim_set_decoration_provider(hints, {
  on_win = function(_, _, bufnr, top, bottom)
    hint_row, hint_item = nil, nil
    if not shown[bufnr] or plain[bufnr] then
      return false
    end
    if M.room(bufnr) ~= drawn_for[bufnr].width then
      vim.schedule(function()
        refit(bufnr)
      end)
    end
    for _, place in ipairs(M.list(bufnr)) do
      if place.row > (hint_row or bottom) then
        break
      elseif place.last >= (hint_row or top) then
        hint_row = hint_row or math.max(place.row, top)
        if not hint_item or hint_item.proposal.landed then
          hint_item = place.item
        end
      end
    end
    return hint_row ~= nil
  end,
  on_line = function(_, window, bufnr, row)
    if row == hint_row then
      local info = vim.fn.getwininfo(window)[1]
      local line = text.cut(vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or "")
      local room_left = info.width - info.textoff - vim.fn.strdisplaywidth(line) - 3
      vim.api.nvim_buf_set_extmark(bufnr, hints, row, 0, {
        ephemeral = true,
        virt_text = { { "  " .. keys.hint(hint_item, room_left), "AzimuthHint" } },
        virt_text_pos = "eol",
        hl_mode = "combine",
      })
    end
  end,
})

return M
