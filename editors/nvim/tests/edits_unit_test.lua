--- The lines that a hunk of a suggested edit changes, the words in them, and the form in which they are drawn.

local changes = require("azimuth.inline.edits.change")
local draw = require("azimuth.inline.edits.draw")
local support = require("support")

local T = {}

--- The change of a hunk in a text.
---@param lines string[]
---@param range integer[]
---@param text string
---@return azimuth.inline.Change?
local function change(lines, range, text)
  local hunk = {
    id = "h",
    text = text,
    range = { start = { line = range[1], character = range[2] }, ["end"] = { line = range[3], character = range[4] } },
  }
  return changes.new(hunk, function(row)
    return lines[row + 1]
  end, function(line, character)
    return math.min(character, #line)
  end)
end

function T.a_hunk_is_the_lines_that_it_changes()
  local lines = { "one", "two", "three" }
  local cases = {
    -- A part of a line.
    { { 1, 1, 1, 3 }, "en", { 1, { "two" }, { "ten" } } },
    -- Whole lines.
    { { 0, 0, 2, 0 }, "uno\ndue\n", { 0, { "one", "two" }, { "uno", "due" } } },
    -- Lines that stay are no part of it.
    { { 0, 0, 3, 0 }, "one\ndue\nthree\n", { 1, { "two" }, { "due" } } },
    -- New lines, above the first, between others, and after the last in two forms.
    { { 0, 0, 0, 0 }, "zero\n", { 0, {}, { "zero" } } },
    { { 1, 0, 1, 0 }, "a\nb\n", { 1, {}, { "a", "b" } } },
    { { 3, 0, 3, 0 }, "four\n", { 3, {}, { "four" } } },
    { { 2, 5, 2, 5 }, "\nfour", { 3, {}, { "four" } } },
    { { 2, 0, 3, 0 }, "drei\nvier\n", { 2, { "three" }, { "drei", "vier" } } },
    -- Lines that go.
    { { 1, 0, 2, 0 }, "", { 1, { "two" }, {} } },
    { { 1, 0, 3, 0 }, "", { 1, { "two", "three" }, {} } },
    -- Line ends of another system.
    { { 1, 0, 2, 0 }, "due\r\n", { 1, { "two" }, { "due" } } },
  }
  for _, case in ipairs(cases) do
    local found = assert(change(lines, case[1], case[2]))
    support.equal({ found.row, found.old, found.new }, case[3], vim.inspect(case))
  end
  support.equal(change(lines, { 1, 0, 2, 0 }, "two\n"), nil)
end

function T.the_cursor_is_at_lines_that_come_from_both_sides()
  support.equal({ changes.rows({ id = "h", row = 3, old = {}, new = { "x" } }, 3) }, { 2, 3 })
  support.equal({ changes.rows({ id = "h", row = 0, old = {}, new = { "x" } }, 0) }, { 0, 0 })
  support.equal({ changes.rows({ id = "h", row = 3, old = { "a", "b" }, new = {} }, 3) }, { 3, 4 })
end

--- The line with the pieces in it: `[old|new]`.
---@param old string
---@param new string
---@return string
---@return boolean is_long
local function marked(old, new)
  local pieces, is_long = changes.pieces(old, new)
  local parts, at = {}, 0
  for _, piece in ipairs(pieces) do
    table.insert(parts, old:sub(at + 1, piece.col))
    table.insert(parts, ("[%s|%s]"):format(old:sub(piece.col + 1, piece.end_col), piece.text))
    at = piece.end_col
  end
  return table.concat(parts) .. old:sub(at + 1), is_long
end

function T.the_words_of_a_line_that_differ_are_found()
  local cases = {
    { "local width = w * w", "local width = w * h", "local width = w * [w|h]" },
    { "foo(a)", "foo(a, b)", "foo(a[|, b])" },
    { "foo(a, b)", "foo(a)", "foo(a[, b|])" },
    { "count = 1", "counter = 1", "count[|er] = 1" },
    { "", "  return x", "[|  return x]" },
    { "print(größe)", "print(größer)", "print(größe[|r])" },
    { "let a = one two;", "let a = three four;", "let a = [one two|three four];" },
    { "  if x then", "  if not y then", "  if [x|not y] then" },
  }
  for _, case in ipairs(cases) do
    local found, is_long = marked(case[1], case[2])
    support.equal({ found, is_long }, { case[3], false }, case[1])
  end
end

function T.a_line_that_becomes_another_one_is_replaced_as_a_whole()
  local found = marked("  call(this, that)", "  return 5 + other.value")
  support.equal(found, "  [call(this, that)|return 5 + other.value]")
  found = marked("  return (fahrenheit - OFFSET) * 5 / 9", "  local kelvin = M.to_kelvin(M.from(fahrenheit)) - 1")
  support.equal(found, "  [return (fahrenheit - OFFSET) * 5 / 9|local kelvin = M.to_kelvin(M.from(fahrenheit)) - 1]")
  local _, is_long = changes.pieces("x = 1", "x = " .. ("word "):rep(20))
  support.equal(is_long, true)
  _, is_long = changes.pieces("f(a, b, c, d, e)", "f(a1, b1, c1, d1, e)")
  support.equal(is_long, true)
end

function T.the_pieces_put_together_are_the_new_line()
  local words = { "a", "bb", "(", ")", " ", "  ", ", ", "é", "日本", "x1", "=", "" }
  local seed = 7
  local function pick()
    seed = (seed * 1103515245 + 12345) % 2147483648
    return words[math.floor(seed / 65536) % #words + 1]
  end
  for _ = 1, 500 do
    local old, new = "", ""
    for _ = 1, 8 do
      local word = pick()
      local other = pick()
      old = old .. word
      new = new .. (#other == 1 and other or word)
    end
    local pieces = changes.pieces(old, new)
    local parts, at = {}, 0
    for _, piece in ipairs(pieces) do
      vim.list_extend(parts, { old:sub(at + 1, piece.col), piece.text })
      at = piece.end_col
    end
    support.equal(table.concat(parts) .. old:sub(at + 1), new, old)
    if #pieces > 0 then
      support.contains(new, changes.region(pieces, old, new))
    end
  end
end

function T.nothing_moves_the_line_of_the_cursor()
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "one", "f(a, b)", "three", "four" })
  local function seen(row, col)
    return { bufnr = 0, row = row, col = col, is_inserting = false, first = 0, last = 3, width = 80, has_signs = false }
  end
  local line = { id = "h", row = 1, old = { "f(a, b)" }, new = { "f(a1, b)" } }
  support.equal(draw.form(line, 1, seen(0, 0)), "inline")
  support.equal(draw.form(line, 1, seen(1, 2)), "inline")
  -- The text would come before the cursor.
  support.equal(draw.form(line, 1, seen(1, 6)), "end")
  support.equal(draw.form(line, 1, seen(1, 6), "inline"), "inline")
  -- With its pieces the line is longer than the window, and so is what comes.
  local narrow = vim.tbl_extend("force", seen(0, 0), { width = 7 })
  support.equal(draw.form(line, 1, narrow), "below")
  local lines = { id = "h", row = 1, old = { "f(a, b)" }, new = { "g()", "h()" } }
  support.equal(draw.form(lines, 1, seen(1, 0)), "below")
  support.equal(draw.form(lines, 1, seen(0, 0)), "below")
  support.equal(draw.form(lines, 1, seen(2, 0)), "brief")
  support.equal(draw.form(lines, 1, seen(2, 0), "below"), "below")
  support.equal(draw.form({ id = "h", row = 0, old = {}, new = { "zero" } }, 0, seen(0, 0)), "brief")
  support.equal(draw.form({ id = "h", row = 2, old = {}, new = { "x" } }, 2, seen(2, 0)), "brief")
  support.equal(draw.form({ id = "h", row = 2, old = {}, new = { "x" } }, 2, seen(1, 0)), "below")
  support.equal(draw.form({ id = "h", row = 2, old = { "three" }, new = {} }, 2, seen(3, 0)), "gone")
  vim.cmd("bwipeout!")
end

return T
