--- The added lines of a hunk as pieces of virtual text: with syntax where there is a parser, and with its changed words
--- emphasised. Text of a model is hostile: what cannot be printed is shown as what it is.

local hunks = require("azimuth.review.hunks")
local text = require("azimuth.text")

local M = {}

--- Syntax is looked for in texts up to this size; a hunk of a larger document is parsed alone.
local MAX_PARSED = 200000

---@alias azimuth.review.Chunk { [1]: string, [2]: string|string[] }

--- Marks in `groups`, a list per line by byte, what the parser says of some lines of a text.
---@param lines string[] The text.
---@param first integer The first line that is wanted, from 0.
---@param wanted string[] These lines, each perhaps shortened.
---@param language string
---@param groups table<integer, string>[]
local function syntax(lines, first, wanted, language, groups)
  local source = table.concat(lines, "\n") .. "\n"
  local found, parser = pcall(vim.treesitter.get_string_parser, source, language)
  if not found or not parser then
    return
  end
  pcall(parser.parse, parser, true)
  parser:for_each_tree(function(tree, language_tree)
    local query = vim.treesitter.query.get(language_tree:lang(), "highlights")
    if not query then
      return
    end
    for id, node in query:iter_captures(tree:root(), source, first, first + #wanted) do
      local name = query.captures[id]
      if not vim.startswith(name, "_") and name ~= "spell" and name ~= "nospell" and name ~= "conceal" then
        local group = ("@%s.%s"):format(name, language_tree:lang())
        local from_row, from, to_row, to = node:range()
        for row = math.max(from_row, first), math.min(to_row, first + #wanted - 1) do
          local line = wanted[row - first + 1]
          local of_line = groups[row - first + 1]
          for byte = row == from_row and from or 0, math.min(row == to_row and to or #line, #line) - 1 do
            of_line[byte] = group
          end
        end
      end
    end
  end)
end

--- A text that can be printed: tabs up to the next stop, and names for all else.
---@param piece string
---@param column integer Where it begins on the screen.
---@param tabstop integer
---@return string
local function printable(piece, column, tabstop)
  if not piece:find("[%c\128-\255]") then
    return piece
  end
  local parts = {}
  for part, tab in piece:gmatch("([^\t]*)(\t?)") do
    part = vim.fn.strtrans(part)
    table.insert(parts, part)
    column = column + vim.fn.strdisplaywidth(part)
    if tab ~= "" then
      local blanks = tabstop - column % tabstop
      table.insert(parts, (" "):rep(blanks))
      column = column + blanks
    end
  end
  return table.concat(parts)
end

--- The pieces of the lines that a hunk adds.
---@param hunk azimuth.Hunk
---@param around { before: string[], after: string[], language?: string, tabstop: integer } The document's lines around it.
---@param base string The group of all of it.
---@param emphasis string The group of changed words.
---@return azimuth.review.Chunk[][]
function M.added(hunk, around, base, emphasis)
  local lines = hunks.lines(hunk.newText)
  local shown, groups, strong = {}, {}, {}
  for row, line in ipairs(lines) do
    shown[row], groups[row], strong[row] = text.cut(line), {}, {}
  end
  if around.language then
    local all, first = lines, 0
    local size = #hunk.newText
    for _, side in ipairs({ around.before, around.after }) do
      for _, line in ipairs(side) do
        size = size + #line + 1
      end
    end
    if size <= MAX_PARSED then
      all, first = vim.list_extend(vim.list_extend(vim.list_slice(around.before), lines), around.after), #around.before
    end
    if #hunk.newText <= MAX_PARSED then
      syntax(all, first, shown, around.language, groups)
    end
  end
  local _, changed = hunks.words(hunk)
  for _, span in ipairs(changed) do
    for byte = span.from, math.min(span.to, #shown[span.row + 1]) - 1 do
      strong[span.row + 1][byte] = true
    end
  end

  local painted = {}
  for row, line in ipairs(shown) do
    local chunks, column, from = {}, 0, 0
    for byte = 1, #line do
      local ends = byte == #line
        or groups[row][byte] ~= groups[row][byte - 1]
        or strong[row][byte] ~= strong[row][byte - 1]
      if ends then
        local stack = { base }
        if groups[row][from] then
          table.insert(stack, groups[row][from])
        end
        if strong[row][from] then
          table.insert(stack, emphasis)
        end
        local piece = printable(line:sub(from + 1, byte), column, around.tabstop)
        column = column + vim.fn.strdisplaywidth(piece)
        table.insert(chunks, { piece, stack })
        from = byte
      end
    end
    painted[row] = chunks
  end
  return painted
end

--- The same pieces in lines of a width, each filled up to it.
---@param chunks azimuth.review.Chunk[]
---@param width integer
---@param base string
---@return azimuth.review.Chunk[][]
function M.fitted(chunks, width, base)
  local lines, line, column = {}, {}, 0
  local function finish()
    table.insert(line, { (" "):rep(width - column), base })
    table.insert(lines, line)
    line, column = {}, 0
  end
  for _, chunk in ipairs(chunks) do
    local rest = chunk[1]
    while rest ~= "" do
      local room = width - column
      if vim.fn.strdisplaywidth(rest) <= room then
        table.insert(line, { rest, chunk[2] })
        column = column + vim.fn.strdisplaywidth(rest)
        break
      end
      -- The number of characters that fit, found by halving, since a character can be two cells wide.
      local low, high = 0, math.min(vim.fn.strchars(rest), room)
      while low < high do
        local middle = math.ceil((low + high) / 2)
        if vim.fn.strdisplaywidth(vim.fn.strcharpart(rest, 0, middle)) <= room then
          low = middle
        else
          high = middle - 1
        end
      end
      if low == 0 and column == 0 then
        break
      end
      local part = vim.fn.strcharpart(rest, 0, low)
      if part ~= "" then
        table.insert(line, { part, chunk[2] })
        column = column + vim.fn.strdisplaywidth(part)
      end
      rest = rest:sub(#part + 1)
      finish()
    end
  end
  if column > 0 or #lines == 0 then
    finish()
  end
  return lines
end

return M
