--- The parts of a drawn entry: lines, and what is highlighted and folded of them. Pure.

local text = require("azimuth.text")

local M = {}

---@class azimuth.Mark
---@field row integer From the block's first line, from 0.
---@field col integer
---@field end_col? integer The line's end without it.
---@field group string The highlight.
---@field rule? boolean Whether a rule is drawn from the line's end to the window's.

---@class azimuth.Block
---@field lines string[]
---@field marks azimuth.Mark[]
---@field fold? { first: integer, last: integer } Rows of the block that fold into the first, from 0.

--- How many lines of a result or an input the transcript shows; the rest is a key away.
M.MAX_DETAIL = 40

---@return azimuth.Block
function M.new()
  return { lines = {}, marks = {} }
end

---@param into azimuth.Block
---@param line string
---@param group? string
function M.put(into, line, group)
  table.insert(into.lines, line)
  if group then
    table.insert(into.marks, { row = #into.lines - 1, col = 0, group = group })
  end
end

---@param into azimuth.Block
---@param line string
---@param group string
function M.header(into, line, group)
  M.put(into, line, group)
  into.marks[#into.marks].rule = true
end

--- Puts what `inside` puts in a fence that nothing in the text can close.
---@param into azimuth.Block
---@param longest integer The longest run of backticks in the text.
---@param language string
---@param inside fun()
function M.fenced(into, longest, language, inside)
  local fence = ("`"):rep(math.min(math.max(longest, 2) + 1, 100))
  M.put(into, fence .. language, "AzimuthDim")
  inside()
  M.put(into, fence, "AzimuthDim")
end

--- The text as it is.
---@param into azimuth.Block
---@param body string
function M.verbatim(into, body)
  local lines = text.lines(body)
  if lines[#lines] == "" then
    table.remove(lines)
  end
  local longest = 0
  for run in body:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  M.fenced(into, longest, "", function()
    for at, line in ipairs(lines) do
      if at > M.MAX_DETAIL then
        M.put(into, ("… %d more lines; <CR> shows all"):format(#lines - M.MAX_DETAIL))
        break
      end
      M.put(into, line)
    end
  end)
end

--- Returns the end of a code fence that the Markdown leaves open, or nil. Without it all the rest would look like code.
---@param lines string[]
---@return string?
function M.open_fence(lines)
  local open = nil
  for _, line in ipairs(lines) do
    local mark, rest = line:match("^ ? ? ?(```+)(.*)$")
    if not mark then
      mark, rest = line:match("^ ? ? ?(~~~+)(.*)$")
    end
    if mark and not open then
      if mark:sub(1, 1) == "~" or not rest:find("`", 1, true) then
        open = mark
      end
    elseif mark and mark:sub(1, 1) == open:sub(1, 1) and #mark >= #open and rest:match("^%s*$") then
      open = nil
    end
  end
  return open
end

---@param into azimuth.Block
---@param body string
---@param whole boolean
function M.markdown(into, body, whole)
  local lines = text.lines(body)
  while whole and #lines > 1 and lines[#lines]:match("^%s*$") do
    table.remove(lines)
  end
  for _, line in ipairs(lines) do
    M.put(into, line)
  end
  local fence = whole and M.open_fence(lines)
  if fence then
    M.put(into, fence)
  end
end

return M
