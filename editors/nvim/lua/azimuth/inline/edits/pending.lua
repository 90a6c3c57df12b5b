--- The suggested edit that waits for the user: where its hunks are now, and how much of it is on the screen.
---
--- The server keeps it in step with the text. Between a change of the text and the server's word, a hunk that the
--- change did not touch stays where it is drawn, as its marks move with the text; one that it touched is taken off.

local around = require("azimuth.inline.around")
local changes = require("azimuth.inline.edits.change")
local client = require("azimuth.client")
local config = require("azimuth.config")
local draw = require("azimuth.inline.edits.draw")
local gate = require("azimuth.inline.gate")
local ghost = require("azimuth.inline.draw")
local held = require("azimuth.inline.held")
local keys = require("azimuth.inline.keys")
local positions = require("azimuth.position")
local request = require("azimuth.inline.edits.request")
local suggestions = require("azimuth.inline.suggestion")
local tell = require("azimuth.inline.request").tell
local text = require("azimuth.text")

local M = {}

local anchors = vim.api.nvim_create_namespace("azimuth.inline.edits.anchor")

---@class azimuth.inline.Part A hunk in its document.
---@field change azimuth.inline.Change
---@field anchor integer The mark that follows it.
---@field above integer 1 if the mark is on the line above it.
---@field form? azimuth.inline.Form The form in which it is drawn.

---@class azimuth.inline.Pending
---@field edit azimuth.InlineEdit
---@field asked_in integer The buffer from which it was asked for.
---@field bufnr? integer The buffer of its document; nil while none is loaded.
---@field parts azimuth.inline.Part[]
---@field ghost? { suggestion: azimuth.inline.Suggestion, anchor: integer }
---@field is_invoked boolean True if the user asked for it.
---@field is_revealed boolean False while only signs may be shown.
---@field is_told boolean True if the server knows that it is shown.
---@field is_visible boolean
---@field is_concealed? boolean True while the server makes the change: the keys are still those of the edit.
---@field forms table<string, azimuth.inline.Form> By the content of a hunk, whose name changes with each change.
---@field fit? azimuth.inline.Fit What is left of it as ghost text.
---@field drawn? string What the drawing depends on.
---@field drawn_in? integer

---@type azimuth.inline.Pending?
local pending = nil
--- The cursor after the last jump to a hunk: there, Tab accepts also in the white space at the beginning of a line.
---@type string?
local jumped_to = nil

---@return string
local function cursor_now()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local bufnr = vim.api.nvim_get_current_buf()
  return ("%d %d %d %d"):format(bufnr, vim.api.nvim_buf_get_changedtick(bufnr), cursor[1], cursor[2])
end

--- Finds the loaded buffer of a document.
---@param uri string
---@return integer?
local function buffer_of(uri)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and client.is_document(bufnr) and vim.uri_from_bufnr(bufnr) == uri then
      return bufnr
    end
  end
end

---@return string
local function encoding()
  local server = client.lsp_client()
  return server and server.offset_encoding or "utf-16"
end

---@param line string
---@param character integer
---@return integer
local function byte(line, character)
  return positions.byte(encoding(), line, character)
end

--- The position of the server's in bytes.
---@param bufnr integer
---@param position azimuth.Position
---@return integer row From 0.
---@return integer col
function M.position(bufnr, position)
  local row = math.min(position.line, vim.api.nvim_buf_line_count(bufnr) - 1)
  local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
  return row, byte(line, row == position.line and position.character or #line)
end

-- Where it is -------------------------------------------------------------------------------------------------------

local function take_down()
  if pending.drawn_in then
    draw.clear(pending.drawn_in)
  end
  pending.drawn, pending.drawn_in, pending.is_visible, pending.fit = nil, nil, false, nil
end

local function hide()
  take_down()
  keys.hide("edit")
end

--- Forgets where the hunks are.
local function loosen()
  if pending.bufnr and vim.api.nvim_buf_is_valid(pending.bufnr) then
    vim.api.nvim_buf_clear_namespace(pending.bufnr, anchors, 0, -1)
  end
  pending.parts, pending.ghost = {}, nil
end

--- Finds the edit as ghost text at the cursor, if it can be that.
local function find_ghost()
  local item, bufnr = pending.edit.ghost, pending.bufnr
  if not item or bufnr ~= vim.api.nvim_get_current_buf() then
    return
  end
  local here = around.from(bufnr, item.range.start.line, 0)
  local named = { id = pending.edit.id, range = item.range, text = item.text, version = pending.edit.version }
  local suggestion = here and suggestions.new(named, here, byte)
  if suggestion then
    local row = item.range.start.line
    local anchor = vim.api.nvim_buf_set_extmark(bufnr, anchors, row, 0, { right_gravity = false })
    pending.ghost = { suggestion = suggestion, anchor = anchor }
  end
end

--- Finds the hunks in their document. If that has another version than the edit, the server is about to say where they
--- are in it.
---@param is_new boolean True if the buffer has just come: nothing was said of its version.
local function fasten(is_new)
  loosen()
  local bufnr = pending.bufnr
  if not bufnr or (not is_new and request.version(bufnr) ~= pending.edit.version) then
    return
  end
  local count = vim.api.nvim_buf_line_count(bufnr)
  local function line_at(row)
    return row < count and vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or nil
  end
  for _, hunk in ipairs(pending.edit.hunks) do
    local change = changes.new(hunk, line_at, byte)
    if change then
      local above = #change.old == 0 and change.row > 0 and 1 or 0
      local row = math.min(change.row - above, count - 1)
      local anchor = vim.api.nvim_buf_set_extmark(bufnr, anchors, row, 0, {})
      local form = pending.forms[changes.content(change)]
      table.insert(pending.parts, { change = change, anchor = anchor, above = above, form = form })
    end
  end
  find_ghost()
end

---@param part azimuth.inline.Part
---@return integer row
local function row_of(part)
  local at = vim.api.nvim_buf_get_extmark_by_id(pending.bufnr, anchors, part.anchor, {})
  return (at[1] or part.change.row - part.above) + part.above
end

--- True if a change of one line is beside its pieces.
---@param change azimuth.inline.Change
---@param line string The line now.
---@return boolean
local function is_beside(change, line)
  local old = change.old[1]
  if #change.new ~= 1 then
    return false
  end
  local start, stop = 0, 0
  while start < math.min(#old, #line) and old:byte(start + 1) == line:byte(start + 1) do
    start = start + 1
  end
  while stop < math.min(#old, #line) - start and old:byte(#old - stop) == line:byte(#line - stop) do
    stop = stop + 1
  end
  return not vim.iter((changes.pieces(old, change.new[1]))):any(function(piece)
    return #old - stop >= piece.col and start <= piece.end_col
  end)
end

--- True if the text still has the lines that a hunk replaces.
---@param part azimuth.inline.Part
---@param row integer
---@return boolean
local function is_intact(part, row)
  local old = part.change.old
  local now = vim.api.nvim_buf_get_lines(pending.bufnr, row, row + #old, false)
  return vim.deep_equal(now, old) or (#old == 1 and #now == 1 and is_beside(part.change, now[1]))
end

---@class azimuth.inline.Laid A hunk and its lines in the document as it is now.
---@field part azimuth.inline.Part
---@field row integer
---@field first integer The lines at which the cursor is at it.
---@field last integer

--- The hunks that the text still agrees with, from top to bottom.
---@return azimuth.inline.Laid[]
local function laid_out()
  local found = {}
  for _, part in ipairs(pending.bufnr and pending.parts or {}) do
    local row = row_of(part)
    if is_intact(part, row) then
      local first, last = changes.rows(part.change, row)
      table.insert(found, { part = part, row = row, first = first, last = last })
    end
  end
  return found
end

---@param one azimuth.inline.Laid
---@param row integer
---@return integer
local function distance(one, row)
  return math.max(one.first - row, row - one.last, 0)
end

---@param all azimuth.inline.Laid[]
---@param row integer
---@return azimuth.inline.Laid?
local function nearest_of(all, row)
  local nearest
  for _, one in ipairs(all) do
    if not nearest or distance(one, row) < distance(nearest, row) then
      nearest = one
    end
  end
  return nearest
end

-- Showing it --------------------------------------------------------------------------------------------------------

--- Says where the edit is; nil if that is seen.
---@param seen azimuth.inline.Seen
---@param nearest? azimuth.inline.Laid
---@return string?
local function direction(seen, nearest)
  local where
  if seen.bufnr ~= pending.bufnr then
    local name = vim.fs.basename(vim.uri_to_fname(pending.edit.uri))
    where = ("→ %s:%d"):format(vim.fn.strtrans(name), pending.edit.target.line + 1)
  elseif nearest and not draw.is_on_screen(seen, math.max(nearest.first, math.min(nearest.row, nearest.last))) then
    local arrow = nearest.first > seen.row and "↓" or "↑"
    where = ("%s %s"):format(arrow, text.plural(distance(nearest, seen.row), "line"))
  end
  local key = keys.told("go")
  return where and key and ("%s · %s"):format(where, key) or where
end

--- The rest of the edit as ghost text at the cursor; nil if it cannot be shown so.
---@return azimuth.inline.Fit?
local function ghost_fit()
  local own = pending.ghost
  if not own or not vim.startswith(vim.api.nvim_get_mode().mode, "i") then
    return nil
  end
  local at = vim.api.nvim_buf_get_extmark_by_id(pending.bufnr, anchors, own.anchor, {})
  local here = around.from(pending.bufnr, at[1], select(2, own.suggestion.text:gsub("\n", "")))
  local fit = here and suggestions.fit(own.suggestion, here)
  return suggestions.is_open(fit) and fit or nil
end

--- Says what a drawing depends on.
---@param seen azimuth.inline.Seen
---@param all azimuth.inline.Laid[]
---@param hint? string
---@param fit? azimuth.inline.Fit
---@return string
local function signature(seen, all, hint, fit)
  local parts = { seen.bufnr, seen.width, tostring(seen.has_signs), tostring(pending.is_revealed), hint or "" }
  if hint then
    table.insert(parts, seen.row)
  end
  if fit then
    vim.list_extend(parts, { seen.row, seen.col, fit.left, fit.replaces })
  end
  for _, one in ipairs(all) do
    vim.list_extend(parts, { one.part.change.id, one.row, one.part.form or "" })
  end
  return table.concat(parts, "\0")
end

---@param seen azimuth.inline.Seen
---@param all azimuth.inline.Laid[]
---@param hint? string
---@param fit? azimuth.inline.Fit
local function put(seen, all, hint, fit)
  pending.drawn_in = seen.bufnr
  if not pending.is_revealed then
    for _, one in ipairs(all) do
      draw.hunk_sign(one.part.change, one.row, seen)
    end
    if hint then
      draw.hint_sign(seen)
    end
  elseif fit then
    ghost.show({ bufnr = seen.bufnr, row = seen.row, col = seen.col, namespace = draw.namespace }, fit)
  else
    for _, one in ipairs(all) do
      draw.hunk(one.part.change, one.row, one.part.form, seen)
    end
    if hint then
      draw.hint(hint, seen)
    end
  end
end

--- True if Tab is for something else here: the menu, a snippet or the indentation.
---@param seen azimuth.inline.Seen
---@param fit? azimuth.inline.Fit
---@return boolean
local function has_tab(seen, fit)
  if not seen.is_inserting then
    return true
  elseif not gate.has_tab() then
    return false
  end
  local before = vim.api.nvim_get_current_line():sub(1, seen.col)
  local space = fit and fit.left:match("^[ \t]*") or ""
  local indents = before:match("^%s*$") and (not fit or vim.fn.strdisplaywidth(space) >= vim.fn.shiftwidth())
  return not indents or jumped_to == cursor_now() or (fit ~= nil and space == "")
end

--- Finds the buffer of the edit's document, which may have been opened or closed in the meantime.
local function find_buffer()
  if pending.bufnr and vim.api.nvim_buf_is_loaded(pending.bufnr) then
    return
  end
  pending.bufnr = buffer_of(pending.edit.uri)
  if pending.bufnr then
    -- Of a file that was not open, the server says first if it still has the text that the edit is for.
    fasten(pending.edit.version ~= nil)
  end
end

--- True if the edit may be shown in the current buffer now.
---@return boolean
local function may_show()
  local bufnr = vim.api.nvim_get_current_buf()
  local is_concerned = bufnr == pending.bufnr or bufnr == pending.asked_in
  return is_concerned and not held.is_visible() and not gate.silent_on_edits(pending.is_invoked)
end

--- Shows as much of the edit as there is to show in the current window.
---@return boolean is_visible
function M.refresh()
  if not pending or pending.is_concealed then
    return false
  elseif not gate.is_mode_of_edits() then
    -- Text that is selected or written over is not to change its look.
    keys.hide("edit")
    return false
  end
  find_buffer()
  if not may_show() then
    hide()
    return false
  end
  local seen = draw.seen()
  local all = seen.bufnr == pending.bufnr and laid_out() or {}
  local fit = seen.bufnr == pending.bufnr and ghost_fit() or nil
  local nearest = nearest_of(all, seen.row)
  local hint = not fit and direction(seen, nearest) or nil
  if #all == 0 and not hint and not fit then
    hide()
    return false
  end
  for _, one in ipairs(all) do
    one.part.form = draw.form(one.part.change, one.row, seen, one.part.form)
    pending.forms[changes.content(one.part.change)] = one.part.form
  end
  local drawn = signature(seen, all, hint, fit)
  if drawn ~= pending.drawn then
    take_down()
    put(seen, all, hint, fit)
    pending.drawn, pending.fit = drawn, fit
  end
  pending.is_visible = pending.is_revealed
  if pending.is_revealed then
    keys.show("edit", seen.bufnr, seen.is_inserting and "i" or "n", has_tab(seen, fit))
    if not pending.is_told then
      pending.is_told = true
      tell(pending.edit.id, "shown")
    end
  else
    keys.hide("edit")
  end
  return pending.is_visible
end

--- Takes it off the screen while the server makes the change, or shows it again.
---@param is_concealed boolean
function M.conceal(is_concealed)
  if pending then
    pending.is_concealed = is_concealed
    if is_concealed then
      take_down()
    else
      M.refresh()
    end
  end
end

--- Draws it again: the window has changed, and not the text.
function M.redraw()
  if pending then
    pending.drawn = nil
    M.refresh()
  end
end

-- Coming and going --------------------------------------------------------------------------------------------------

--- Lets the edit go.
---@param event? azimuth.InlineEvent What became of it; nil if the server knows.
function M.drop(event)
  if not pending then
    return
  end
  if event and (pending.is_told or event == "rejected") then
    tell(pending.edit.id, event)
  end
  hide()
  loosen()
  pending = nil
end

--- Takes an edit in place of the one before, which may be the same.
---@param edit azimuth.InlineEdit
---@param asked_in integer The buffer from which it was asked for.
---@param is_invoked boolean
function M.take(edit, asked_in, is_invoked)
  if pending and pending.edit.id == edit.id then
    pending.is_invoked = pending.is_invoked or is_invoked
    pending.is_revealed = pending.is_revealed or is_invoked
    M.follow(edit)
    return
  end
  M.drop("replaced")
  pending = {
    edit = edit,
    asked_in = asked_in,
    bufnr = buffer_of(edit.uri),
    parts = {},
    forms = {},
    is_invoked = is_invoked,
    is_revealed = is_invoked or config.values.inline.edits.display ~= "sign",
    is_told = false,
    is_visible = false,
  }
  fasten(false)
  M.refresh()
end

--- Takes what the server says of the edit after a change of its document.
---@param edit? azimuth.InlineEdit What is left of it.
function M.follow(edit)
  if not edit then
    M.drop()
    return
  end
  pending.is_told = pending.is_told and pending.edit.id == edit.id
  pending.edit, pending.bufnr = edit, buffer_of(edit.uri)
  -- If the user has typed on, the server is about to say more. Until then, what is drawn stays.
  if #pending.parts == 0 or not pending.bufnr or request.version(pending.bufnr) == edit.version then
    pending.drawn = nil
    fasten(false)
  end
  M.refresh()
end

--- Rejects one of its hunks; the others stay.
---@param id string
function M.reject(id)
  tell(pending.edit.id, "rejected", nil, id)
  pending.edit.hunks = vim.tbl_filter(function(hunk)
    return hunk.id ~= id
  end, pending.edit.hunks)
  pending.parts = vim.tbl_filter(function(part)
    return part.change.id ~= id
  end, pending.parts)
  pending.ghost = nil
  if #pending.edit.hunks == 0 then
    M.drop()
  else
    M.refresh()
  end
end

--- Shows the text of one of which only signs were shown.
---@return boolean
function M.reveal()
  if pending and not pending.is_revealed then
    pending.is_invoked, pending.is_revealed = true, true
    return M.refresh()
  end
  return false
end

-- Asking for it -----------------------------------------------------------------------------------------------------

--- The edit that waits; nil if there is none.
---@return azimuth.InlineEdit?
function M.edit()
  return pending and pending.edit
end

--- True if some of it, or where it is, can be read in the current window.
---@return boolean
function M.is_visible()
  return pending ~= nil and pending.is_visible
end

--- The buffer of its document, if it is loaded.
---@return integer?
function M.buffer()
  return pending and pending.bufnr
end

---@class azimuth.inline.At A hunk, as an action needs it.
---@field id string
---@field row integer Where it is, from 0.
---@field col integer
---@field height integer The rows that it takes on the screen.
---@field is_here boolean True if the cursor is at it.
---@field is_seen boolean True if all of its text is on the screen.

--- The column to put the cursor on.
---@param one azimuth.inline.Laid
---@return integer
local function column_of(one)
  local change = one.part.change
  if #change.old == 1 and #change.new == 1 then
    local pieces = changes.pieces(change.old[1], change.new[1])
    return pieces[1] and pieces[1].col or 0
  end
  local line = vim.api.nvim_buf_get_lines(pending.bufnr, one.last, one.last + 1, false)[1] or ""
  return #change.old == 0 and 0 or #line:match("^%s*")
end

--- The hunks of the edit in the current buffer, from top to bottom, and the one that is nearest to the cursor.
---@return azimuth.inline.At[]
---@return azimuth.inline.At? nearest
function M.hunks()
  if not pending or pending.bufnr ~= vim.api.nvim_get_current_buf() then
    return {}, nil
  end
  local seen, all = draw.seen(), laid_out()
  local nearest = nearest_of(all, seen.row)
  local found, nearest_found = {}, nil
  for _, one in ipairs(all) do
    local id = one.part.change.id
    local is_on_screen = draw.is_on_screen(seen, one.first) and draw.is_on_screen(seen, one.last)
    local at = {
      id = id,
      row = math.min(one.row, vim.api.nvim_buf_line_count(pending.bufnr) - 1),
      col = column_of(one),
      height = math.max(1, #one.part.change.old) + (one.part.form == "inline" and 0 or #one.part.change.new),
      -- A hunk that a closed fold hides cannot be accepted before it was seen.
      is_here = distance(one, seen.row) == 0 and vim.fn.foldclosed(seen.row + 1) == -1,
      is_seen = pending.is_revealed and is_on_screen and one.part.form ~= "brief",
    }
    table.insert(found, at)
    nearest_found = one == nearest and at or nearest_found
  end
  return found, nearest_found
end

--- Notes that the cursor has just jumped to a hunk.
function M.note_jump()
  jumped_to = cursor_now()
end

return M
