--- A suggestion, and the rest of it after the user has typed some of it. Pure, except for the classes of characters.
---
--- A suggestion is compared with the text as it is now, never with the keys that were pressed. So it makes no
--- difference if a character was typed, pasted, or inserted by a plugin that closes brackets, and a deleted one comes
--- back.

local text = require("azimuth.text")

local M = {}

---@class azimuth.inline.Suggestion
---@field id string
---@field text string All of it, from the beginning of its range.
---@field before string The line up to the beginning of its range.
---@field rest string What it replaces behind the cursor, often closing brackets.
---@field after string The line after its range.
---@field above? string The line above; nil in the first line.
---@field below? string The line below; nil in the last one.

--- The text around the cursor.
---@class azimuth.inline.Place
---@field lines string[] From the line where the suggestion begins to the cursor's.
---@field col integer The cursor, in bytes of the last of them.
---@field above? string
---@field below? string

---@class azimuth.inline.Fit
---@field typed integer The bytes of the suggestion that are in the text already.
---@field left string What is not.
---@field replaces string What it replaces behind the cursor now.
---@field after string The rest of the line.

local CHARACTER = "[%z\1-\127\194-\244][\128-\191]*"

--- The beginning of the line and its end that a suggestion is for.
---@param item azimuth.InlineItem
---@param place azimuth.inline.Place The text that it is for, of one line.
---@param byte fun(line: string, character: integer): integer
---@return azimuth.inline.Suggestion?
function M.new(item, place, byte)
  local line = place.lines[1]
  local first = byte(line, item.range.start.character)
  local last = byte(line, item.range["end"].character)
  if first > place.col or last < place.col then
    return nil
  end
  return {
    id = item.id,
    text = (item.text:gsub("\r\n?", "\n")),
    before = line:sub(1, first),
    rest = line:sub(place.col + 1, last),
    after = line:sub(last + 1),
    above = place.above,
    below = place.below,
  }
end

--- True if all characters of one text are in the other, in the same order.
---@param part string
---@param whole string
---@return boolean
local function is_within(part, whole)
  local from = 1
  for character in part:gmatch(CHARACTER) do
    local _, stop = whole:find(character, from, true)
    if not stop then
      return false
    end
    from = stop + 1
  end
  return true
end

--- True if the suggestion can replace the text behind the cursor: the text that it was made to replace, or the end of
--- that, and brackets and quotes that a plugin has closed in the meantime and that the suggestion closes, too.
---@param suggestion azimuth.inline.Suggestion
---@param behind string
---@param left string
---@return boolean
local function can_replace(suggestion, behind, left)
  for at = 1, #suggestion.rest + 1 do
    local kept = suggestion.rest:sub(at)
    if vim.endswith(behind, kept) then
      local closed = behind:sub(1, #behind - #kept)
      return closed == "" or (closed:match("^[%)%]}>\"'`]+$") ~= nil and is_within(closed, left))
    end
  end
  return false
end

--- Finds the rest of a suggestion that is not in the text yet; nil if the text says something else.
---@param suggestion azimuth.inline.Suggestion
---@param place azimuth.inline.Place
---@return azimuth.inline.Fit?
function M.fit(suggestion, place)
  local lines, col = place.lines, place.col
  local here = lines[#lines]
  if place.above ~= suggestion.above or place.below ~= suggestion.below then
    return nil
  elseif not vim.startswith(lines[1], suggestion.before) or (#lines == 1 and col < #suggestion.before) then
    return nil
  end
  local typed = table.concat(lines, "\n", 1, #lines - 1) .. (#lines > 1 and "\n" or "") .. here:sub(1, col)
  typed = typed:sub(#suggestion.before + 1)
  local behind = here:sub(col + 1)
  if not vim.startswith(suggestion.text, typed) or not vim.endswith(behind, suggestion.after) then
    return nil
  end
  local left = suggestion.text:sub(#typed + 1)
  local replaces = behind:sub(1, #behind - #suggestion.after)
  if not can_replace(suggestion, replaces, left) then
    return nil
  end
  return { typed = #typed, left = left, replaces = replaces, after = suggestion.after }
end

--- True if there is something left to show.
---@param fit? azimuth.inline.Fit
---@return boolean
function M.is_open(fit)
  return fit ~= nil and fit.left ~= "" and fit.left ~= fit.replaces
end

--- True if a menu entry and the suggestion agree, so that taking the entry leaves the rest of the suggestion.
---@param fit azimuth.inline.Fit
---@param before string The cursor's line up to the cursor.
---@param entry azimuth.inline.Entry
---@return boolean
function M.extends(fit, before, entry)
  return vim.startswith(before:sub(entry.first + 1) .. fit.left, entry.text)
end

--- The text up to the end of its first word, with the space before it. A word is what `e` takes for one in the buffer.
---@param left string
---@return string
function M.word(left)
  local length, class = 0, nil
  for character in left:gmatch(CHARACTER) do
    local this = character:match("^%s$") and 0 or vim.fn.charclass(character)
    if class and this ~= class then
      break
    elseif this ~= 0 then
      class = this
    end
    length = length + #character
  end
  return left:sub(1, length)
end

--- The text up to the end of the line; at the end of one, the next one.
---@param left string
---@return string
function M.line(left)
  local stop = left:find("\n", 2, true)
  return stop and left:sub(1, stop - 1) or left
end

--- How much of what is behind the cursor a piece of the suggestion replaces: as little as the rest can do without.
---@param fit azimuth.inline.Fit
---@param piece string
---@return integer bytes
function M.replaced_by(fit, piece)
  local left = fit.left:sub(#piece + 1)
  local bytes = 0
  for character in fit.replaces:gmatch(CHARACTER) do
    if is_within(fit.replaces:sub(bytes + 1), left) then
      break
    end
    bytes = bytes + #character
  end
  return bytes
end

--- The pieces of a line that are to be shown between what stays: so nothing is shown twice, and nothing is hidden.
---@param line string What would be in the place of `stays`.
---@param stays string
---@return { col: integer, text: string }[]? pieces With their bytes in `stays`; nil if `line` lacks a part of it.
function M.pieces(line, stays)
  local pieces = {}
  -- From the right, so that what is shown begins at the cursor in one piece, if it can.
  local characters = {}
  for character in stays:gmatch(CHARACTER) do
    table.insert(characters, character)
  end
  local line_end, col = #line, #stays
  for at = #characters, 1, -1 do
    local character = characters[at]
    local first = line_end - #character + 1
    while first >= 1 and line:sub(first, first + #character - 1) ~= character do
      first = first - 1
    end
    if first < 1 then
      return nil
    end
    table.insert(pieces, 1, { col = col, text = line:sub(first + #character, line_end) })
    line_end, col = first - 1, col - #character
  end
  table.insert(pieces, 1, { col = 0, text = line:sub(1, line_end) })
  return vim.tbl_filter(function(piece)
    return piece.text ~= ""
  end, pieces)
end

--- How many UTF-16 units of a suggestion are in the text after a piece more.
---@param suggestion azimuth.inline.Suggestion
---@param bytes integer
---@return integer
function M.length(suggestion, bytes)
  return text.utf16_of_byte(suggestion.text, bytes)
end

return M
