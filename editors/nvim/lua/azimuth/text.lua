--- Text from a model or a project, made fit to be shown. Pure.

local M = {}

--- No line of a view is longer than this many bytes: the editor would be slow with it, and nobody reads it.
M.MAX_LINE = 2000

--- The largest length, not above `limit`, at which a text can be cut without splitting a character.
---@param text string
---@param limit integer
---@return integer
local function boundary(text, limit)
  while limit > 0 and text:byte(limit + 1) and text:byte(limit + 1) >= 0x80 and text:byte(limit + 1) < 0xC0 do
    limit = limit - 1
  end
  return limit
end

--- A text cut to `limit` bytes, with a word about what was cut.
---@param text string
---@param limit? integer
---@param length? integer Of the whole text, where `text` is its beginning, with at least one byte more than the limit.
---@return string
function M.cut(text, limit, length)
  limit, length = limit or M.MAX_LINE, length or #text
  if length <= limit then
    return text
  end
  return ("%s … (%d more bytes)"):format(text:sub(1, boundary(text, limit)), length - limit)
end

--- The lines of a text, each cut to what a view can hold.
---@param text string
---@return string[]
function M.lines(text)
  -- A session has thousands of texts, and in Neovim 0.10 `vim.split` takes as long as all else that draws them.
  local lines, first = {}, 1
  repeat
    local stop = text:find("\n", first, true)
    local line = text:sub(first, stop and stop - 1 or -1)
    if line:byte(-1) == 13 then
      line = line:sub(1, -2)
    end
    lines[#lines + 1] = M.cut(line)
    first = stop and stop + 1
  until not first
  return lines
end

--- A text on one line, shortened with an ellipsis.
---@param text string
---@param limit? integer In bytes.
---@return string
function M.one_line(text, limit)
  limit = limit or 200
  local line = text:sub(1, limit * 4):gsub("%s+", " "):match("^ ?(.-) ?$")
  if #line > limit then
    return line:sub(1, boundary(line, limit)) .. "…"
  end
  return line
end

--- A text of one line, shortened with an ellipsis to what fits into a width.
---@param line string
---@param width integer In cells.
---@return string
function M.shortened(line, width)
  if vim.fn.strdisplaywidth(line) <= width then
    return line
  end
  local count = vim.fn.strchars(line)
  while count > 0 and vim.fn.strdisplaywidth(vim.fn.strcharpart(line, 0, count)) > width - 1 do
    count = count - 1
  end
  return vim.fn.strcharpart(line, 0, count) .. "…"
end

--- A text for a status line or window bar, where `%` begins an instruction.
---@param text string
---@return string
function M.bar(text)
  return (M.one_line(text):gsub("%%", "%%%%"))
end

--- The text that a status line or window bar shows, without its instructions for highlights.
---@param bar string
---@return integer cells
local function bar_width(bar)
  return vim.fn.strdisplaywidth((bar:gsub("%%#[%w]+#", ""):gsub("%%%*", ""):gsub("%%%%", "%%")))
end

--- As many parts as fit into a width, the weightiest first and at least that one. Parts are for a bar or a window's border.
---@param parts string[]
---@param width integer In cells.
---@return string
function M.fit(parts, width)
  local line = " " .. (parts[1] or "")
  for at = 2, #parts do
    local longer = line .. " · " .. parts[at]
    if bar_width(longer) + 1 > width then
      break
    end
    line = longer
  end
  return line .. " "
end

---@param ms integer
---@return string
function M.duration(ms)
  if ms < 1000 then
    return ("%d ms"):format(ms)
  elseif ms < 60000 then
    return ("%.1f s"):format(ms / 1000)
  end
  return ("%d min %d s"):format(math.floor(ms / 60000), math.floor(ms / 1000) % 60)
end

--- The time of today, or another day.
---@param at integer Milliseconds since the Unix epoch.
---@return string
function M.when(at)
  local seconds = math.floor(at / 1000)
  local today = os.date("%Y-%m-%d") == os.date("%Y-%m-%d", seconds)
  return os.date(today and "%H:%M" or "%Y-%m-%d", seconds) --[[@as string]]
end

---@param number integer
---@return string
function M.count(number)
  if number < 1000 then
    return tostring(number)
  elseif number < 1000000 then
    return ("%.1fk"):format(number / 1000)
  end
  return ("%.1fM"):format(number / 1000000)
end

---@param bytes integer
---@return string
function M.bytes(bytes)
  if bytes < 1000000 then
    return ("%d kB"):format(math.ceil(bytes / 1000))
  elseif bytes < 1000000000 then
    return ("%d MB"):format(math.floor(bytes / 1000000 + 0.5))
  end
  return ("%.1f GB"):format(bytes / 1000000000)
end

--- An amount of money, as the server writes it: `format_cost` there has the rule, `tests/amounts.json` the cases.
---@param cost number
---@return string
function M.dollars(cost)
  local thousandths = math.floor(cost * 1000 + 0.5)
  if cost <= 0 or cost ~= cost then
    return "$0.00"
  elseif thousandths < 1 then
    return "<$0.001"
  elseif thousandths < 1000 then
    return ("$%.3f"):format(thousandths / 1000)
  end
  return ("$%.2f"):format(math.floor(cost * 100 + 0.5) / 100)
end

---@param number integer
---@param noun string
---@return string
function M.plural(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or "s")
end

---@param byte integer The first byte of a character.
---@return integer bytes
---@return integer units In UTF-16.
local function width(byte)
  if byte < 0x80 then
    return 1, 1
  elseif byte < 0xE0 then
    return 2, 1
  elseif byte < 0xF0 then
    return 3, 1
  end
  return 4, 2
end

--- How many UTF-16 units the first `bytes` bytes of a text are.
---@param text string
---@param bytes integer
---@return integer
function M.utf16_of_byte(text, bytes)
  local at, units = 1, 0
  while at <= bytes and at <= #text do
    local step, more = width(text:byte(at))
    at, units = at + step, units + more
  end
  return units
end

--- How many bytes the first `units` UTF-16 units of a text are.
---@param text string
---@param units integer
---@return integer
function M.byte_of_utf16(text, units)
  local at = 1
  while units > 0 and at <= #text do
    local step, less = width(text:byte(at))
    at, units = at + step, units - less
  end
  return math.min(at - 1, #text)
end

return M
