--- The rest of a suggestion in a text, and the parts of it that can be accepted.

local draw = require("azimuth.inline.draw")
local menu = require("azimuth.inline.menu")
local suggestions = require("azimuth.inline.suggestion")
local support = require("support")
local why = require("azimuth.inline.why")

local T = {}

--- A place in lines with the cursor at `|`.
---@param lines string[]
---@param around? { above?: string, below?: string }
---@return azimuth.inline.Place
local function place(lines, around)
  local last = lines[#lines]
  local col = assert(last:find("|", 1, true)) - 1
  lines = vim.list_extend(vim.list_slice(lines, 1, #lines - 1), { last:sub(1, col) .. last:sub(col + 2) })
  around = around or {}
  return { lines = lines, col = col, above = around.above, below = around.below }
end

--- A suggestion for a line with the cursor at `|`. Its range is from the cursor on and `replaces` the bytes after it.
---@param line string
---@param text string
---@param replaces? integer
---@return azimuth.inline.Suggestion
local function suggestion(line, text, replaces)
  local at = place({ line })
  local range = { start = { line = 0, character = at.col }, ["end"] = { line = 0, character = at.col + (replaces or 0) } }
  return assert(suggestions.new({ id = "s", text = text, range = range, version = 1 }, at, function(_, character)
    return character
  end))
end

---@param one azimuth.inline.Suggestion
---@param lines string[]
---@return string?
local function left(one, lines)
  local fit = suggestions.fit(one, place(lines))
  return fit and fit.left
end

function T.what_is_typed_of_a_suggestion_is_taken_off_and_what_is_deleted_comes_back()
  local one = suggestion("local x = |", "foo(bar)")
  support.equal(left(one, { "local x = |" }), "foo(bar)")
  support.equal(left(one, { "local x = foo|" }), "(bar)")
  support.equal(left(one, { "local x = fo|" }), "o(bar)")
  support.equal(left(one, { "local x = foo(bar)|" }), "")
  support.equal(left(one, { "local x = fox|" }), nil)
  support.equal(left(one, { "local x =|" }), nil)
  support.equal(left(one, { "local y = foo|" }), nil)
end

function T.a_suggestion_of_several_lines_is_followed_over_their_ends()
  local one = suggestion("if x then|", "\n  return {\n  }\nend")
  support.equal(left(one, { "if x then", "  |" }), "return {\n  }\nend")
  support.equal(left(one, { "if x then", "  return {", "  }", "e|" }), "nd")
  support.equal(left(one, { "if x then", "    |" }), nil)
end

function T.brackets_that_a_plugin_closes_are_replaced()
  local one = suggestion("f|", "oo(bar({}))")
  for line, expected in pairs({ ["foo(|)"] = ")", ["foo(bar({|}))"] = "}))", ["foo(bar({})|)"] = ")", ["foo(bar({}))|"] = "" }) do
    support.equal(suggestions.fit(one, place({ line })).replaces, expected, line)
  end
  -- A bracket that the suggestion does not close stays.
  support.equal(suggestions.fit(one, place({ "foo(|]" })), nil)
  support.equal(suggestions.fit(one, place({ "foo(| x" })), nil)
end

function T.what_it_replaces_may_be_typed_over()
  local one = suggestion("foo(|)", "a) do", 1)
  support.equal(suggestions.fit(one, place({ "foo(a|)" })).replaces, ")")
  support.equal(suggestions.fit(one, place({ "foo(a)|" })).replaces, "")
  support.equal(left(one, { "foo(a)| x" }), nil)
end

function T.a_change_of_the_lines_around_it_ends_it()
  local at = place({ "x|" }, { above = "a", below = "b" })
  local one = assert(suggestions.new({
    id = "s",
    text = "yz",
    range = { start = { line = 1, character = 1 }, ["end"] = { line = 1, character = 1 } },
    version = 1,
  }, at, function(_, character)
    return character
  end))
  support.equal(suggestions.fit(one, place({ "xy|" }, { above = "a", below = "b" })).left, "z")
  support.equal(suggestions.fit(one, place({ "xy|" }, { above = "a", below = "c" })), nil)
  support.equal(suggestions.fit(one, place({ "xy|" }, { above = "c", below = "b" })), nil)
end

function T.a_range_that_is_not_at_the_cursor_is_refused()
  local at = place({ "abc|def" })
  local function new(first, last)
    local range = { start = { line = 0, character = first }, ["end"] = { line = 0, character = last } }
    return suggestions.new({ id = "s", text = "abcd", range = range, version = 1 }, at, function(_, character)
      return character
    end)
  end
  support.equal(new(4, 5), nil)
  support.equal(new(0, 2), nil)
  support.equal(new(0, 6).before, "")
end

function T.words_end_where_vim_ends_them()
  for text, word in pairs({
    ["foo_bar(baz)"] = "foo_bar",
    ["(baz)"] = "(",
    ["  = x"] = "  =",
    ["\n    return x"] = "\n    return",
    ["..x"] = "..",
    ["größe = 1"] = "größe",
    ["日本語ひらがな"] = "日本語",
    ["🙂🙂x"] = "🙂🙂",
    ["x"] = "x",
    ["  "] = "  ",
    [""] = "",
  }) do
    support.equal(suggestions.word(text), word, text)
  end
end

function T.a_line_ends_before_its_end_and_the_next_begins_with_it()
  support.equal(suggestions.line("foo\n  bar\nbaz"), "foo")
  support.equal(suggestions.line("\n  bar\nbaz"), "\n  bar")
  support.equal(suggestions.line("\n\nx"), "\n")
  support.equal(suggestions.line("baz"), "baz")
end

function T.lengths_are_in_utf16()
  local one = suggestion("|", "aé日🙂b")
  local counted = {}
  for _, bytes in ipairs({ 0, 1, 3, 6, 10, 11 }) do
    table.insert(counted, suggestions.length(one, bytes))
  end
  support.equal(counted, { 0, 1, 2, 3, 5, 6 })
end

function T.what_stays_in_the_line_is_shown_once()
  local function pieces(line, stays)
    local found = suggestions.pieces(line, stays)
    return found and vim.tbl_map(function(piece)
      return { piece.col, piece.text }
    end, found)
  end
  support.equal(pieces("a, b)", ")"), { { 0, "a, b" } })
  support.equal(pieces("a, b) do", ")"), { { 0, "a, b" }, { 1, " do" } })
  support.equal(pieces("x(y))", "))"), { { 0, "x(y" } })
  support.equal(pieces("'é')", "')"), { { 0, "'é" } })
  support.equal(pieces("a]", ")"), nil)
  support.equal(pieces("abc", ""), { { 0, "abc" } })
end

function T.a_part_replaces_only_what_the_rest_can_do_without()
  local one = suggestion("foo(|)", "a) do", 1)
  local fit = suggestions.fit(one, place({ "foo(|)" }))
  support.equal(suggestions.replaced_by(fit, "a"), 0)
  support.equal(suggestions.replaced_by(fit, "a)"), 1)
end

function T.an_entry_of_the_menu_is_found_by_what_is_typed_of_it()
  support.equal(menu.located("local x = pr", "print"), { first = 10, text = "print" })
  support.equal(menu.located("local x = print", "print"), { first = 10, text = "print" })
  support.equal(menu.located("local x = q", "print"), nil)
end

--- A generator of numbers that is the same everywhere.
---@param seed integer
---@return fun(below: integer): integer
local function numbers(seed)
  return function(below)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return math.floor(seed / 65536) % below
  end
end

function T.wherever_the_user_stops_typing_what_is_shown_is_what_accepting_gives()
  local characters = { "a", "b", "(", ")", "{", "}", "'", " ", "é", "日", "🙂" }
  for seed = 1, 2000 do
    local random = numbers(seed)
    local function word(most)
      local parts = {}
      for _ = 1, random(most + 1) do
        table.insert(parts, characters[random(#characters) + 1])
      end
      return table.concat(parts)
    end
    local before, whole, after = word(5), word(8), word(3)
    -- It replaces some closing brackets, and contains them or not.
    local rest = ({ "", ")", "})", "')" })[random(4) + 1]
    local range = { start = { line = 0, character = #before }, ["end"] = { line = 0, character = #before + #rest } }
    local at = { lines = { before .. rest .. after }, col = #before }
    local one = suggestions.new({ id = "s", text = whole, range = range, version = 1 }, at, function(_, character)
      return character
    end)
    local typed = ""
    for character in (whole .. "$"):gmatch("[%z\1-\127\194-\244][\128-\191]*") do
      local fit = suggestions.fit(one, { lines = { before .. typed .. rest .. after }, col = #before + #typed })
      support.equal(typed .. fit.left, whole)
      -- In parts, and at once.
      local line, open, behind = before .. typed, fit.left, rest
      while open ~= "" do
        local part = suggestions.word(open)
        local here = suggestions.fit(one, { lines = { line .. behind .. after }, col = #line })
        support.equal(here.left, open)
        local replaced = part == open and #here.replaces or suggestions.replaced_by(here, part)
        line, open, behind = line .. part, open:sub(#part + 1), behind:sub(replaced + 1)
      end
      if fit.left ~= "" then
        support.equal(line .. behind .. after, before .. whole .. after)
      end
      local pieces = suggestions.pieces(fit.left, fit.replaces)
      if pieces then
        local shown, from = "", 1
        for _, piece in ipairs(pieces) do
          shown = shown .. fit.replaces:sub(from, piece.col) .. piece.text
          from = piece.col + 1
        end
        support.equal(shown .. fit.replaces:sub(from), fit.left)
      end
      typed = typed .. character
    end
  end
end

function T.tabs_and_control_characters_are_as_wide_as_in_the_text()
  local before = vim.bo.tabstop
  vim.bo.tabstop = 4
  support.equal(draw.expanded("\tx\ty", 0), "    x   y")
  support.equal(draw.expanded("\tx", 2), "  x")
  support.equal(draw.expanded("日\tx", 0), "日  x")
  support.equal(draw.expanded("a\27b", 0), "a^[b")
  vim.bo.tabstop = before
end

function T.a_list_says_why_there_is_no_suggestion()
  local at = { line = 2, character = 4 }
  local drawn = why.drawn("Suggestions are off.", {
    { uri = "", at = 0, position = at, trigger = "automatic", source = "none", tookMs = 1, reason = { rule = "undo", words = "It was an undo." } },
    { uri = "", at = 0, position = at, trigger = "invoked", source = "model", tookMs = 80, model = "test/m" },
    { uri = "", at = 0, position = at, trigger = "automatic", source = "kept", tookMs = 0 },
  }, 80)
  support.equal(drawn.lines[1], "Suggestions are off.")
  support.contains(drawn.lines[3], "  3:5  It was an undo.")
  support.contains(drawn.lines[4], "asked by key: Suggested, by test/m in 80 ms.")
  support.contains(drawn.lines[5], "Suggested, from an answer that was there already.")
end

return T
