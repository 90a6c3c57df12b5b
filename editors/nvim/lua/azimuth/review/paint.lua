--- The added lines of a hunk as pieces of virtual text: with syntax where there is a parser, and with its changed words
--- emphasised. Text of a model is hostile: what cannot be printed is shown as what it is.

local hunks = require("azimuth.review.hunks")
local text = require("azimuth.text")

local M = {}

--- Syntax is looked for in texts up to this size.
local MAX_PARSED = 200000

---@alias azimuth.review.Chunk { [1]: string, [2]: string|string[] }

---@class azimuth.review.Source A text as it would be with its hunks, parsed once for all of them, when it is first asked.
---@field language? string
---@field first table<string, integer> Where the lines of a hunk begin in it, by the hunk's id, from 0.
---@field lines fun(): string[]
---@field text? string
---@field parser? vim.treesitter.LanguageTree|false

--- The text of a document with its hunks in it.
---@param lines string[] The document.
---@param places { hunk: azimuth.Hunk, row: integer }[] From top to bottom. Those that overlap are left out.
---@param language? string
---@return azimuth.review.Source
function M.source(lines, places, language)
  local source = { language = language, first = {} }
  local fitting, size, at, shift = {}, 0, 0, 0
  for _, place in ipairs(places) do
    if place.row >= at then
      local old, new = hunks.lines(place.hunk.oldText), hunks.lines(place.hunk.newText)
      source.first[place.hunk.hunkId] = place.row + shift
      table.insert(fitting, { row = place.row, stop = place.row + #old, new = new })
      at, shift, size = place.row + #old, shift + #new - #old, size + #place.hunk.newText
    end
  end
  for _, line in ipairs(lines) do
    size = size + #line + 1
  end
  if size > MAX_PARSED then
    source.language = nil
  end
  function source.lines()
    local all, next_row = {}, 0
    for _, place in ipairs(fitting) do
      vim.list_extend(all, lines, next_row + 1, math.min(place.row, #lines))
      vim.list_extend(all, place.new)
      next_row = place.stop
    end
    return vim.list_extend(all, lines, next_row + 1, #lines)
  end
  return source
end

---@param source azimuth.review.Source
---@return boolean # Whether there is a parser for it.
local function parse(source)
  if source.parser == nil then
    source.text = table.concat(source.lines(), "\n") .. "\n"
    local found, parser = pcall(vim.treesitter.get_string_parser, source.text, source.language)
    source.parser = found and parser and pcall(parser.parse, parser, true) and parser or false
  end
  return source.parser ~= false
end

--- Marks in `groups`, a list per line by byte, what the parser says of some lines of a text.
---@param source azimuth.review.Source
---@param first integer The first line that is wanted, from 0.
---@param wanted string[] These lines, each perhaps shortened.
---@param groups table<integer, string>[]
local function syntax(source, first, wanted, groups)
  if not parse(source) then
    return
  end
  source.parser:for_each_tree(function(tree, language_tree)
    local query = vim.treesitter.query.get(language_tree:lang(), "highlights")
    if not query then
      return
    end
    for id, node in query:iter_captures(tree:root(), source.text, first, first + #wanted) do
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
---@param source azimuth.review.Source The document with its hunks.
---@param tabstop integer
---@param base string The group of all of it.
---@param emphasis string The group of changed words.
---@return azimuth.review.Chunk[][]
function M.added(hunk, source, tabstop, base, emphasis)
  local lines = hunks.lines(hunk.newText)
  local shown, groups, strong = {}, {}, {}
  for row, line in ipairs(lines) do
    shown[row], groups[row], strong[row] = text.cut(line), {}, {}
  end
  if source.language and source.first[hunk.hunkId] then
    syntax(source, source.first[hunk.hunkId], shown, groups)
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
        local piece = printable(line:sub(from + 1, byte), column, tabstop)
        column = column + vim.fn.strdisplaywidth(piece)
        table.insert(chunks, { piece, stack })
        from = byte
      end
    end
    painted[row] = chunks
  end
  return painted
end

--- The pieces of a line without syntax.
---@param line string
---@param tabstop integer
---@param base string The group of all of it.
---@return azimuth.review.Chunk[]
function M.plain(line, tabstop, base)
  return { { printable(text.cut(line), 0, tabstop), base } }
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
