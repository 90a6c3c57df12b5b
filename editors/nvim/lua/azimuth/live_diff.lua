--- The diff of an edit whose call still arrives, as far as it is shown: its counts and its last lines. What a piece costs does
--- not grow with what came before it. Pure.

local text = require("azimuth.text")

local M = {}

--- How many lines are kept: the end, since that is where it grows.
M.KEPT = 40

---@class azimuth.LiveDiff
---@field added integer Lines, with the one that still arrives.
---@field removed integer
---@field ended integer Lines that have ended.
---@field kept table<integer, string> The last of these, by their number from 1.
---@field rest string What has come of the line that still arrives, as far as a view can hold it.
---@field length integer In bytes, of all that has come of that line.
---@field returns boolean Whether that ends in a carriage return.
---@field fence integer The longest run of backticks.
---@field run integer The backticks at the end of what has come.

---@return azimuth.LiveDiff
function M.new()
  return { added = 0, removed = 0, ended = 0, kept = {}, rest = "", length = 0, returns = false, fence = 0, run = 0 }
end

---@param diff azimuth.LiveDiff
---@return string
local function last_line(diff)
  local length = diff.length - (diff.returns and 1 or 0)
  return text.cut(diff.rest:sub(1, length), nil, length)
end

---@param diff azimuth.LiveDiff
---@param part string Of one line.
local function add_to_line(diff, part)
  if part == "" then
    return
  elseif diff.length == 0 then
    local sign = part:sub(1, 1)
    diff.added = diff.added + (sign == "+" and 1 or 0)
    diff.removed = diff.removed + (sign == "-" and 1 or 0)
  end
  diff.length = diff.length + #part
  diff.returns = part:byte(-1) == 13
  -- One byte more than is shown tells whether a character would be split there.
  diff.rest = diff.rest .. part:sub(1, math.max(0, text.MAX_LINE + 1 - #diff.rest))
end

---@param diff azimuth.LiveDiff
local function end_line(diff)
  diff.ended = diff.ended + 1
  diff.kept[diff.ended] = last_line(diff)
  diff.kept[diff.ended - M.KEPT] = nil
  diff.rest, diff.length, diff.returns = "", 0, false
end

---@param diff azimuth.LiveDiff
---@param piece string
local function count_backticks(diff, piece)
  local run = piece == "" and diff.run or 0
  for from, ticks, to in piece:gmatch("()(`+)()") do
    local length = #ticks + (from == 1 and diff.run or 0)
    diff.fence = math.max(diff.fence, length)
    run = to > #piece and length or 0
  end
  diff.run = run
end

--- Takes in what has come.
---@param diff azimuth.LiveDiff
---@param piece string
function M.add(diff, piece)
  count_backticks(diff, piece)
  local first = 1
  for stop in piece:gmatch("()\n") do
    add_to_line(diff, piece:sub(first, stop - 1))
    end_line(diff)
    first = stop + 1
  end
  add_to_line(diff, piece:sub(first))
end

--- The last lines, each cut to what a view can hold, and how many stand above them.
---@param diff azimuth.LiveDiff
---@return string[] lines
---@return integer above
function M.lines(diff)
  local lines, last = {}, last_line(diff)
  local all = diff.ended + (last ~= "" and 1 or 0)
  local above = math.max(0, all - M.KEPT)
  for at = above + 1, diff.ended do
    table.insert(lines, diff.kept[at])
  end
  if last ~= "" then
    table.insert(lines, last)
  end
  return lines, above
end

return M
