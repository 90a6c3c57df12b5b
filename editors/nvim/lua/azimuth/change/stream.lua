--- The diff of an edit while its call still arrives, in groups, and the rows of a text that these are about. Pure.

local M = {}

local diff = vim.text and vim.text.diff or vim.diff

--- The bytes of a diff that are read. The server sends less.
local MAX_SIZE = 262144

---@class azimuth.change.Group Lines of the text, and those that come below them.
---@field old string[] Lines that are in the text, the last one directly above what comes.
---@field goes boolean[] True for those that go, by their index.
---@field added string[] Lines that come.
---@field anchor? string What the model says of the location, if it says so.
---@field follows boolean True if it may go on where the group before it ends.

---@class azimuth.change.Reader
---@field groups azimuth.change.Group[]
---@field rest string[] The pieces of the line that still arrives.
---@field size integer The bytes that were read.

---@class azimuth.change.Text The part of a text in which lines are looked for.
---@field lines table<integer, string> By row, from 0.
---@field first integer
---@field last integer
---@field exact table<string, integer[]> The rows of each line.
---@field loose table<string, integer[]> The same without indentation.

--- The rows of a group: the first one, and the one above which it ends. Both are the same if only the end is known.
---@class azimuth.change.Rows
---@field first integer
---@field stop integer

---@return azimuth.change.Reader
function M.reader()
  return { groups = {}, rest = {}, size = 0 }
end

---@param follows boolean
---@param anchor? string
---@return azimuth.change.Group
local function group(follows, anchor)
  return { old = {}, goes = {}, added = {}, anchor = anchor, follows = follows }
end

--- Takes in a line that has ended.
---@param reader azimuth.change.Reader
---@param line string With its mark.
local function take(reader, line)
  line = line:gsub("\r$", "", 1)
  local groups = reader.groups
  local current = groups[#groups]
  local mark, rest = line:sub(1, 1), line:sub(2)
  if mark == "@" then
    local said = vim.trim((line:gsub("^@@", "", 1):gsub("@@$", "", 1)))
    table.insert(groups, group(false, said ~= "" and said or nil))
  elseif mark == "+" then
    if not current then
      current = group(false)
      table.insert(groups, current)
    end
    table.insert(current.added, rest)
  elseif mark == "-" or mark == " " or mark == "" then
    if not current or #current.added > 0 then
      current = group(current ~= nil)
      table.insert(groups, current)
    end
    table.insert(current.old, rest)
    current.goes[#current.old] = mark == "-"
  end
end

--- Takes in a piece of the diff.
---@param reader azimuth.change.Reader
---@param piece string
function M.add(reader, piece)
  reader.size = reader.size + #piece
  if reader.size > MAX_SIZE then
    return
  end
  local first = 1
  for stop in piece:gmatch("()\n") do
    table.insert(reader.rest, piece:sub(first, stop - 1))
    take(reader, table.concat(reader.rest))
    reader.rest = {}
    first = stop + 1
  end
  table.insert(reader.rest, piece:sub(first))
end

--- The line that still arrives, with its mark.
---@param reader azimuth.change.Reader
---@return string
function M.arriving(reader)
  reader.rest = { table.concat(reader.rest) }
  return reader.rest[1]
end

---@param line string
---@return string
local function unindented(line)
  return (line:gsub("^%s+", ""))
end

--- Makes the rows of a text findable.
---@param lines string[]
---@param first integer The row of the first of them, from 0.
---@return azimuth.change.Text
function M.text(lines, first)
  local text = { lines = {}, first = first, last = first + #lines - 1, exact = {}, loose = {} }
  local function note(rows, line, row)
    rows[line] = rows[line] or {}
    table.insert(rows[line], row)
  end
  for at, line in ipairs(lines) do
    local row = first + at - 1
    text.lines[row] = line
    note(text.exact, line, row)
    note(text.loose, unindented(line), row)
  end
  return text
end

--- True if the lines of a group are at a row.
---@param text azimuth.change.Text
---@param old string[]
---@param row integer
---@param is_exact boolean
---@return boolean
local function fits(text, old, row, is_exact)
  for at, line in ipairs(old) do
    local there = text.lines[row + at - 1]
    if not there or (there ~= line and (is_exact or unindented(there) ~= unindented(line))) then
      return false
    end
  end
  return true
end

--- The rows at which the lines of a group begin: at most two, since more say no more.
---@param text azimuth.change.Text
---@param old string[]
---@param is_exact boolean
---@param within? azimuth.change.Span[] Nil for all of the text.
---@return integer[]
local function candidates(text, old, is_exact, within)
  local found = {}
  local rows = is_exact and text.exact[old[1]] or not is_exact and text.loose[unindented(old[1])] or {}
  for _, row in ipairs(rows) do
    local is_within = not within
      or vim.iter(within):any(function(span)
        return row >= span.row and row + #old - 1 <= span.end_row
      end)
    if is_within and fits(text, old, row, is_exact) then
      table.insert(found, row)
      if #found == 2 then
        break
      end
    end
  end
  return found
end

--- The row that a model's word on a location means, if it can mean only one: a line, or the number of one as in
--- `12#AB`.
---@param text azimuth.change.Text
---@param anchor string
---@return integer?
local function row_of_anchor(text, anchor)
  local number = tonumber(anchor:match("^(%d+)#%w+$"))
  if number then
    return text.lines[number - 1] and number - 1 or nil
  end
  local rows = text.loose[unindented(anchor)] or {}
  return #rows == 1 and rows[1] or nil
end

--- Finds the rows of a group. Lines that are at several locations are at none, unless one of them is selected.
---@param text azimuth.change.Text
---@param wanted azimuth.change.Group
---@param selected azimuth.change.Span[]
---@param comes boolean True if lines come below it, so that no more lines of it follow.
---@param before? azimuth.change.Rows Those of the group before it.
---@return azimuth.change.Rows? rows Nil if they are not known, or not yet.
function M.find(text, wanted, selected, comes, before)
  local old = wanted.old
  if #old == 0 then
    local row = wanted.anchor and row_of_anchor(text, wanted.anchor)
    return row and { first = row + 1, stop = row + 1 } or nil
  end
  if wanted.follows and before and (fits(text, old, before.stop, true) or fits(text, old, before.stop, false)) then
    return { first = before.stop, stop = before.stop + #old }
  end
  for _, within in ipairs({ selected, false }) do
    for _, is_exact in ipairs({ true, false }) do
      local found = candidates(text, old, is_exact, within or nil)
      local is_meant = #found == 1 or (#found > 1 and within and comes)
      if is_meant then
        return { first = found[1], stop = found[1] + #old }
      elseif #found > 1 then
        return nil
      end
    end
  end
end

--- A part of a group in which lines go, or come, or both.
---@class azimuth.change.Piece
---@field first integer The lines of the text that go, by their index in the group; none if the last one is before it.
---@field last integer
---@field below integer The line below which lines come; 0 for above the first one.
---@field added string[]

--- The pieces of a group, from top to bottom. Models repeat lines that stay; these are in none.
---@param of azimuth.change.Group
---@param arriving? string The beginning of one more line that comes.
---@return azimuth.change.Piece[]
function M.pieces(of, arriving)
  local pieces, at = {}, 1
  while at <= #of.old do
    local last = at
    while of.goes[last] do
      last = last + 1
    end
    if last > at then
      table.insert(pieces, { first = at, last = last - 1, below = last - 1, added = {} })
    end
    at = math.max(last, at + 1)
  end
  local added = vim.list_extend({}, of.added)
  if arriving and arriving ~= "" then
    table.insert(added, arriving)
  end
  local tail = pieces[#pieces]
  if not tail or tail.last < #of.old then
    table.insert(pieces, { first = #of.old + 1, last = #of.old, below = #of.old, added = added })
    return pieces
  elseif #added == 0 then
    return pieces
  end
  -- The lines that go directly above those that come, and these.
  table.remove(pieces)
  local gone = vim.list_slice(of.old, tail.first)
  local found = diff(table.concat(gone, "\n") .. "\n", table.concat(added, "\n") .. "\n", { result_type = "indices" })
  for _, part in ipairs(found --[[@as integer[][] ]]) do
    -- Without lines that go, the first index is that of the line before.
    local first = tail.first - 1 + part[1] + (part[2] == 0 and 1 or 0)
    local last = first + part[2] - 1
    local come = vim.list_slice(added, part[3], part[3] + part[4] - 1)
    table.insert(pieces, { first = first, last = last, below = last, added = part[4] > 0 and come or {} })
  end
  -- The line that arrives may be the next of those that stay.
  local final = pieces[#pieces]
  local is_beginning = arriving and final and #final.added == 1 and final.added[1] == arriving
  if is_beginning and final.last >= final.first and vim.startswith(of.old[final.first], arriving) then
    final.added = {}
  end
  return pieces
end

return M
