--- The diff of an edit that arrives in pieces, and the rows of the text that it is about; no server is needed.

local stream = require("azimuth.change.stream")
local support = require("support")

local T = {}

local LINES = { "first", "  one", "  two", "end", "second", "  one", "\tthree", "end", "" }

---@param pieces string[]
---@return azimuth.change.Reader
local function read(pieces)
  local reader = stream.reader()
  for _, piece in ipairs(pieces) do
    stream.add(reader, piece)
  end
  return reader
end

--- The first rows and the last rows of the groups of a diff; false for those whose rows are not known.
---@param diff string
---@param selected? integer[] The first row and the last one.
---@param lines? string[]
local function rows(diff, selected, lines)
  selected = selected or { 0, 0 }
  local spans = { { row = selected[1], col = 0, end_row = selected[2], end_col = 0 } }
  local found, before = {}, nil
  for at, group in ipairs(read({ diff }).groups) do
    before = stream.find(stream.text(lines or LINES, 0), group, spans, #group.added > 0, before)
    found[at] = before and { before.first, before.stop - 1 } or false
  end
  return found
end

function T.pieces_may_end_anywhere()
  local diff = "@@ 12#AB\n-one\n-\n+1\r\n+\n-two\n+2"
  local whole = read({ diff })
  for size = 1, 5 do
    local pieces = {}
    for at = 1, #diff, size do
      table.insert(pieces, diff:sub(at, at + size - 1))
    end
    local reader = read(pieces)
    support.equal(reader.groups, whole.groups)
    support.equal(stream.arriving(reader), "+2")
  end
  support.equal(whole.groups[1].anchor, "12#AB")
  support.equal(whole.groups[1].old, { "one", "" })
  support.equal(whole.groups[1].added, { "1", "" })
  support.equal(whole.groups[2].old, { "two" })
end

function T.more_than_a_server_sends_is_not_read()
  local reader = read({ "-one\n", ("+x\n"):rep(100000), "+more\n" })
  support.equal(#reader.groups, 1)
  support.equal(#reader.groups[1].added, 0)
end

function T.lines_are_found_in_what_is_selected_first()
  support.equal(rows("-second\n-  one\n", { 4, 7 }), { { 4, 5 } })
  support.equal(rows("-  one\n+1\n", { 4, 7 }), { { 5, 5 } })
  support.equal(rows("-  one\n+1\n", { 0, 3 }), { { 1, 1 } })
  support.equal(rows("-  two\n+2\n", { 4, 7 }), { { 2, 2 } }, "elsewhere, if it is only there")
  support.equal(rows("-  one\n+1\n", { 2, 3 }), { false }, "elsewhere it could be either")
  support.equal(rows("-nowhere\n+1\n", { 0, 3 }), { false })
end

function T.exact_lines_come_before_those_with_another_indentation()
  local lines = { "    x", "  x", "y" }
  support.equal(rows("-  x\n+1\n", { 0, 2 }, lines), { { 1, 1 } })
  support.equal(rows("-y\n-z\n", { 0, 2 }, lines), { false })
  support.equal(rows("-   three\n-  end\n", { 4, 7 }), { { 6, 7 } })
end

function T.lines_that_are_there_twice_are_found_once_more_of_them_came()
  support.equal(rows("-  one\n", { 0, 7 }), { false })
  support.equal(rows("-  one\n-\tthree\n", { 0, 7 }), { { 5, 6 } })
  support.equal(rows("-  one\n+1\n", { 0, 7 }), { { 1, 1 } }, "no more of them come")
end

function T.the_lines_of_a_patch_follow_each_other()
  local lines = { "a", "x", "b", "x", "c" }
  support.equal(rows("@@\n a\n-x\n+1\n b\n-x\n+2\n c\n", { 0, 4 }, lines), { { 0, 1 }, { 2, 3 }, { 4, 4 } })
  -- Those of several edits do not.
  support.equal(rows("-c\n+3\n-a\n+1\n", { 0, 4 }, lines), { { 4, 4 }, { 0, 0 } })
end

function T.what_only_comes_is_below_the_line_that_the_model_names()
  support.equal(rows("@@ 3#Ab1\n+2.5\n"), { { 3, 2 } })
  support.equal(rows("@@ two\n+2.5\n"), { { 3, 2 } })
  support.equal(rows("@@ end\n+2.5\n"), { false }, "which one is not known")
  support.equal(rows("@@ 99#Ab1\n+2.5\n"), { false })
  support.equal(rows("+2.5\n"), { false })
end

--- The pieces of the last group of a diff, as what goes, the line below which lines come, and these.
---@param diff string
---@return table[]
local function pieces(diff)
  local reader = read({ diff })
  local arriving = stream.arriving(reader)
  local group = reader.groups[#reader.groups]
  return vim.tbl_map(function(piece)
    return { vim.list_slice(group.old, piece.first, piece.last), piece.below, piece.added }
  end, stream.pieces(group, arriving:sub(1, 1) == "+" and arriving:sub(2) or nil))
end

function T.lines_that_come_again_neither_go_nor_come()
  support.equal(pieces("-one\n-two\n"), { { { "one", "two" }, 2, {} } })
  support.equal(pieces("-one\n-two\n+1\n"), { { { "one", "two" }, 2, { "1" } } })
  support.equal(pieces("-one\n-two\n+one\n"), { { { "two" }, 2, {} } })
  support.equal(pieces("-one\n-two\n+one\n+1.5\n+two\n"), { { {}, 1, { "1.5" } } })
  support.equal(pieces("-one\n-two\n+0\n+one\n+two\n+3\n"), { { {}, 0, { "0" } }, { {}, 2, { "3" } } })
end

function T.a_line_that_arrives_comes_unless_it_may_be_one_that_stays()
  support.equal(pieces("-one\n-two\n+one\n+tw"), { { { "two" }, 2, {} } })
  support.equal(pieces("-one\n-two\n+one\n+tx"), { { { "two" }, 2, { "tx" } } })
  support.equal(pieces("-one\n+"), { { { "one" }, 1, {} } })
  support.equal(pieces("@@\n one\n+tw"), { { {}, 1, { "tw" } } })
end

function T.of_a_patch_only_marked_lines_go()
  support.equal(pieces("@@\n-zero\n one\n-two\n+2\n"), { { { "zero" }, 1, {} }, { { "two" }, 3, { "2" } } })
  support.equal(pieces("@@\n one\n+one\n"), { { {}, 1, { "one" } } })
end

return T
