--- A hunk of a suggested edit as whole lines, and the words in which two lines differ. Pure.

local M = {}

--- A line of which less than this part stays is replaced as a whole.
local LEAST_KEPT = 0.3
--- The same of the longer of the two lines, if more than two pieces differ: nobody reads such a line.
local LEAST_KEPT_OF_MANY = 0.4
--- A line with more pieces than this, or with a longer one, in cells, is not shown piece by piece.
local MOST_PIECES, LONGEST_PIECE = 3, 60

---@class azimuth.inline.Change
---@field id string The hunk's.
---@field row integer The first of the old lines, from 0. Without any, the line above which the new ones come.
---@field old string[]
---@field new string[]

---@class azimuth.inline.Piece
---@field col integer In the old line, in bytes.
---@field end_col integer
---@field text string What comes there.

--- Takes the lines off that two texts have in common at an end.
---@param old string[]
---@param new string[]
---@param from_top boolean
---@return integer count
local function trim(old, new, from_top)
  local count = 0
  while #old > 0 and #new > 0 and old[from_top and 1 or #old] == new[from_top and 1 or #new] do
    table.remove(old, from_top and 1 or nil)
    table.remove(new, from_top and 1 or nil)
    count = count + 1
  end
  return count
end

--- The lines that a hunk changes; nil if it changes none.
---@param hunk azimuth.InlineHunk
---@param line_at fun(row: integer): string? The document.
---@param byte fun(line: string, character: integer): integer
---@return azimuth.inline.Change?
function M.new(hunk, line_at, byte)
  local from, to = hunk.range.start, hunk.range["end"]
  local first, last = line_at(from.line) or "", line_at(to.line) or ""
  local before, after = first:sub(1, byte(first, from.character)), last:sub(byte(last, to.character) + 1)
  local old = {}
  for row = from.line, to.line do
    table.insert(old, line_at(row) or "")
  end
  local new = vim.split(before .. hunk.text:gsub("\r\n?", "\n") .. after, "\n", { plain = true })
  trim(old, new, false)
  local row = from.line + trim(old, new, true)
  -- A range may end after the last line, where there is none.
  if #old > 0 and not line_at(row + #old - 1) then
    table.remove(old)
    if new[#new] == "" then
      table.remove(new)
    end
  end
  return (#old > 0 or #new > 0) and { id = hunk.id, row = row, old = old, new = new } or nil
end

--- The content of a change, by which it is known wherever it is.
---@param change azimuth.inline.Change
---@return string
function M.content(change)
  return table.concat(change.old, "\n") .. "\0" .. table.concat(change.new, "\n")
end

--- The rows at which the cursor is at a change. Lines that come between two others are at both.
---@param change azimuth.inline.Change
---@param row integer Where the change is now.
---@return integer first
---@return integer last
function M.rows(change, row)
  if #change.old > 0 then
    return row, row + #change.old - 1
  end
  return math.max(0, row - 1), row
end

-- Words -------------------------------------------------------------------------------------------------------------

local diff = vim.text and vim.text.diff or vim.diff

---@param line string
---@return string[]
local function tokens(line)
  local list, at = {}, 1
  while at <= #line do
    local _, stop = line:find("^[%w_\128-\255]+", at)
    if not stop then
      _, stop = line:find("^%s+", at)
    end
    stop = stop or at
    table.insert(list, line:sub(at, stop))
    at = stop + 1
  end
  return list
end

---@param list string[]
---@param first integer
---@param count integer
---@return string
local function joined(list, first, count)
  return table.concat(list, "", first, first + count - 1)
end

--- True if a byte is one in the middle of a character.
---@param text string
---@param at integer From 0.
---@return boolean
local function is_inside(text, at)
  local byte = text:byte(at + 1) or 0
  return byte >= 0x80 and byte < 0xC0
end

---@param a string
---@param b string
---@return integer bytes That both begin with, in whole characters.
local function common_start(a, b)
  local count = 0
  while count < #a and count < #b and a:byte(count + 1) == b:byte(count + 1) do
    count = count + 1
  end
  while count > 0 and (is_inside(a, count) or is_inside(b, count)) do
    count = count - 1
  end
  return count
end

--- A piece without what stays of a word, if it then only adds or only removes.
---@param old string
---@param piece azimuth.inline.Piece
---@return azimuth.inline.Piece
local function tightened(old, piece)
  local gone = old:sub(piece.col + 1, piece.end_col)
  local start = common_start(gone, piece.text)
  local stop = common_start(gone:sub(start + 1):reverse(), piece.text:sub(start + 1):reverse())
  local is_ascii = not (gone .. piece.text):find("[\128-\255]")
  stop = is_ascii and stop or 0
  if start + stop < math.min(#gone, #piece.text) or start + stop == 0 then
    return piece
  end
  return {
    col = piece.col + start,
    end_col = piece.end_col - stop,
    text = piece.text:sub(start + 1, #piece.text - stop),
  }
end

--- The pieces of two lines that differ, joined where only blanks part them.
---@param old string
---@param new string
---@return azimuth.inline.Piece[]
local function differing(old, new)
  local old_tokens, new_tokens = tokens(old), tokens(new)
  local starts, col = {}, 0
  for at, token in ipairs(old_tokens) do
    starts[at], col = col, col + #token
  end
  starts[#old_tokens + 1] = col
  local function written(list)
    return #list == 0 and "" or table.concat(list, "\n") .. "\n"
  end
  local found = diff(written(old_tokens), written(new_tokens), { result_type = "indices" }) --[[@as integer[][] ]]
  local pieces = {}
  for _, part in ipairs(found) do
    -- Without tokens that go, the first index is that of the token before.
    local at = part[2] == 0 and part[1] + 1 or part[1]
    local first, last = starts[at], starts[at + part[2]]
    local come = part[4] == 0 and "" or joined(new_tokens, part[3], part[4])
    local before = pieces[#pieces]
    local gap = before and old:sub(before.end_col + 1, first)
    if gap and gap:find("^%s*$") then
      before.text, before.end_col = before.text .. gap .. come, last
    else
      table.insert(pieces, { col = first, end_col = last, text = come })
    end
  end
  return pieces
end

---@param line string
---@return integer
local function weight(line)
  return #line:gsub("%s", "")
end

--- The pieces in which a line differs from another, from left to right.
---@param old string
---@param new string
---@return azimuth.inline.Piece[]
---@return boolean is_long True if they are better not shown in the line.
function M.pieces(old, new)
  local pieces = differing(old, new)
  local gone, come = 0, 0
  for _, piece in ipairs(pieces) do
    gone, come = gone + weight(old:sub(piece.col + 1, piece.end_col)), come + weight(piece.text)
  end
  local kept, least, most = weight(old) - gone, math.min(weight(old), weight(new)), math.max(weight(old), weight(new))
  local is_torn = #pieces > 2 and kept < LEAST_KEPT_OF_MANY * most
  if gone > 0 and come > 0 and (is_torn or kept < LEAST_KEPT * least) then
    local blank = math.min(#old:match("^%s*"), #new:match("^%s*"))
    blank = old:sub(1, blank) == new:sub(1, blank) and blank or 0
    pieces = { { col = blank, end_col = #old, text = new:sub(blank + 1) } }
  end
  local is_long = #pieces > MOST_PIECES
  for at, piece in ipairs(pieces) do
    pieces[at] = tightened(old, piece)
    is_long = is_long or vim.fn.strdisplaywidth(piece.text) > LONGEST_PIECE
  end
  return pieces, is_long
end

--- The part of the new line from the first piece to the last.
---@param pieces azimuth.inline.Piece[]
---@param old string
---@param new string
---@return string
function M.region(pieces, old, new)
  local first, last = pieces[1], pieces[#pieces]
  return first and new:sub(first.col + 1, #new - (#old - last.end_col)) or ""
end

return M
