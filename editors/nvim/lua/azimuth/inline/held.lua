--- The suggestion that is held. It is on the screen while the text agrees with it. If the text does not, it is kept
--- for a while, because deleting a character may bring it back.

local around = require("azimuth.inline.around")
local config = require("azimuth.config")
local draw = require("azimuth.inline.draw")
local gate = require("azimuth.inline.gate")
local keys = require("azimuth.inline.keys")
local menus = require("azimuth.inline.menu")
local request = require("azimuth.inline.request")
local suggestions = require("azimuth.inline.suggestion")

local M = {}

local anchors = vim.api.nvim_create_namespace("azimuth.inline.anchor")

---@class azimuth.inline.Held
---@field bufnr integer
---@field anchor integer The mark on the line where it begins.
---@field all azimuth.inline.Suggestion[]
---@field at integer The one that is meant.
---@field is_invoked boolean True if the user asked for it, or for its text.
---@field is_revealed boolean False while only a sign may be shown.
---@field told table<string, true> The suggestions that the server was told are shown.
---@field fit? azimuth.inline.Fit What is left of it; nil while the text says something else.
---@field drawn? string What the drawing depends on.

---@type azimuth.inline.Held?
local held = nil
--- Called when ghost text comes or goes.
local changed = function() end

---@param event azimuth.InlineEvent
---@param length? integer
local function tell(event, length)
  local id = held.all[held.at].id
  if event == "shown" then
    if not held.told[id] then
      held.told[id] = true
      request.tell(id, event)
    end
  elseif held.told[id] or event == "rejected" then
    request.tell(id, event, length)
  end
end

local function hide()
  local was_visible = M.is_visible()
  held.fit, held.drawn = nil, nil
  draw.clear(held.bufnr)
  keys.hide("ghost")
  if was_visible then
    changed()
  end
end

--- Lets the suggestion go.
---@param event? azimuth.InlineEvent What became of it; nil if the server knows.
function M.drop(event)
  if not held then
    return
  end
  if event then
    tell(event)
  end
  hide()
  if vim.api.nvim_buf_is_valid(held.bufnr) then
    vim.api.nvim_buf_clear_namespace(held.bufnr, anchors, 0, -1)
  end
  held = nil
end

--- The text from the line where the suggestion begins to the cursor; nil if the cursor is elsewhere.
---@return azimuth.inline.Place?
local function place()
  local anchor = vim.api.nvim_buf_get_extmark_by_id(held.bufnr, anchors, held.anchor, {})
  return around.from(held.bufnr, anchor[1], select(2, held.all[held.at].text:gsub("\n", "")))
end

--- True if Tab would indent here, and the suggestion begins with an indentation: then Tab does what it says.
---@param before string
---@return boolean
local function is_indenting(before)
  local space = held.fit.left:match("^[ \t]*")
  return before:match("^%s*$") ~= nil and space ~= "" and vim.fn.strdisplaywidth(space) >= vim.fn.shiftwidth()
end

---@param here azimuth.inline.Place
local function show(here)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local spot = { bufnr = held.bufnr, row = cursor[1] - 1, col = cursor[2] }
  local has_tab = gate.has_tab()
  local drawn = table.concat({
    vim.api.nvim_buf_get_changedtick(held.bufnr), spot.row, spot.col, held.at, #held.all, tostring(held.is_revealed),
    vim.api.nvim_get_current_win(), tostring(has_tab), vim.fn.line("w0"), vim.fn.winsaveview().leftcol,
  }, " ")
  if drawn == held.drawn then
    return
  end
  held.drawn = drawn
  if not held.is_revealed then
    draw.sign(spot)
    keys.hide("ghost")
    return
  end
  draw.show(spot, held.fit, #held.all > 1 and ("(%d/%d)"):format(held.at, #held.all) or nil)
  keys.show("ghost", held.bufnr, "i", has_tab and not is_indenting(here.lines[#here.lines]:sub(1, here.col)))
  tell("shown")
  changed()
end

--- True if it must not be shown just now, though the text agrees with it.
---@param fit azimuth.inline.Fit
---@param here azimuth.inline.Place
---@param menu? azimuth.inline.Menu
---@return boolean
local function is_in_the_way(fit, here, menu)
  -- The cursor is where there is no text.
  if vim.fn.getcurpos()[4] > 0 or gate.has_snippet(held.is_invoked) then
    return true
  elseif not menu then
    return false
  end
  local before = here.lines[#here.lines]:sub(1, here.col)
  return menu.is_unclear
    or config.values.inline.menu == "hide"
    or (menu.entry ~= nil and not suggestions.extends(fit, before, menu.entry))
end

--- Finds out what is left of the suggestion in the text as it is now, and shows that.
---@return boolean is_there False if something else can be suggested.
function M.refresh()
  if not held then
    return false
  end
  local is_here = held.bufnr == vim.api.nvim_get_current_buf() and vim.startswith(vim.api.nvim_get_mode().mode, "i")
  -- It may have come before the buffer was closed to suggestions, or before there were several cursors.
  local is_open = is_here and not gate.closed(held.bufnr) and not gate.has_cursors(held.bufnr)
  local here = is_open and place()
  if not here then
    M.drop("ignored")
    return false
  end
  local fit = suggestions.fit(held.all[held.at], here)
  if not fit then
    -- The user may be typing one of the others.
    for at, other in ipairs(held.all) do
      fit = suggestions.fit(other, here)
      if fit then
        held.at = at
        break
      end
    end
  end
  if fit and fit.left == "" then
    M.drop("ignored")
    return false
  end
  local menu = menus.open()
  if not suggestions.is_open(fit) or is_in_the_way(fit, here, menu) then
    hide()
    return false
  end
  held.fit = fit
  show(here)
  return true
end

--- Draws it again: the window has changed, and not the text.
function M.redraw()
  if held and held.fit then
    held.drawn = nil
    M.refresh()
  end
end

--- Has a function called when ghost text comes or goes.
---@param callback fun()
function M.listen(callback)
  changed = callback
end

--- True if its text is on the screen.
---@return boolean
function M.is_visible()
  return held ~= nil and held.fit ~= nil and held.is_revealed
end

--- Takes a new suggestion. The one on the screen stays there, unless the new one only makes it longer, or the user
--- asked.
---@param bufnr integer
---@param row integer The line that they are for, from 0.
---@param found azimuth.inline.Suggestion[]
---@param is_invoked boolean
---@return boolean is_shown
function M.take_over(bufnr, row, found, is_invoked)
  local old = held
  if old and old.fit and not is_invoked then
    local here = place()
    local fit = here and found[1] and suggestions.fit(found[1], here)
    if not fit or not vim.startswith(fit.left, old.fit.left) then
      return true
    end
  end
  if #found == 0 then
    return false
  end
  M.drop(old and old.fit and "replaced" or "ignored")
  held = {
    bufnr = bufnr,
    anchor = vim.api.nvim_buf_set_extmark(bufnr, anchors, row, 0, { right_gravity = false }),
    all = found,
    at = 1,
    is_invoked = is_invoked,
    is_revealed = is_invoked or config.values.inline.display ~= "sign",
    told = {},
  }
  return M.refresh()
end

--- Adds what the server suggests instead to what is held, without what is the same.
---@param found azimuth.inline.Suggestion[]
---@return boolean is_more
function M.add(found)
  local here = held and held.fit and place()
  if not here then
    return false
  end
  local known = {}
  for _, one in ipairs(held.all) do
    local fit = suggestions.fit(one, here)
    known[fit and fit.left or ""] = true
  end
  local before = #held.all
  for _, one in ipairs(found) do
    local fit = suggestions.fit(one, here)
    -- All that are held begin on the same line, or they could not be gone through.
    if fit and not known[fit.left] and #here.lines == 1 then
      known[fit.left] = true
      table.insert(held.all, one)
    end
  end
  return #held.all > before
end

--- The number of suggestions that are held for this place.
---@return integer
function M.count()
  return held and held.fit and #held.all or 0
end

--- Shows another one.
---@param count integer
function M.step(count)
  local here = place()
  for _ = 1, #held.all do
    local before = held.at
    held.at = (held.at - 1 + count) % #held.all + 1
    if here and suggestions.is_open(suggestions.fit(held.all[held.at], here)) then
      local id = held.all[before].id
      if before ~= held.at and held.told[id] then
        request.tell(id, "replaced")
      end
      break
    end
  end
  M.refresh()
end

--- Shows the text of one of which only the sign was shown.
---@return boolean
function M.reveal()
  if held and held.fit and not held.is_revealed then
    held.is_invoked, held.is_revealed = true, true
    return M.refresh()
  end
  return false
end

---@type table<string, fun(left: string): string>
local parts = {
  all = function(left)
    return left
  end,
  word = suggestions.word,
  line = suggestions.line,
}

--- Puts a part of what is left into the text. Nothing is left to the marks of an earlier moment: what is there counts.
---@param part "all"|"word"|"line"
function M.take(part)
  if not M.refresh() or not M.is_visible() then
    return
  end
  local fit, suggestion = held.fit, held.all[held.at]
  local piece = parts[part](fit.left)
  local is_all = piece == fit.left
  local replaced = is_all and #fit.replaces or suggestions.replaced_by(fit, piece)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local row, col = cursor[1] - 1, cursor[2]
  local lines = vim.split(piece, "\n", { plain = true })
  -- Before the text changes, so that no part of it is seen twice.
  draw.clear(held.bufnr)
  vim.api.nvim_buf_set_text(held.bufnr, row, col, row, col + replaced, lines)
  vim.api.nvim_win_set_cursor(0, { row + #lines, (#lines == 1 and col or 0) + #lines[#lines] })
  held.drawn = nil
  if is_all then
    M.drop("accepted")
  else
    tell("partly", suggestions.length(suggestion, fit.typed + #piece))
    M.refresh()
  end
end

return M
