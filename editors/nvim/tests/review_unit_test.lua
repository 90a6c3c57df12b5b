--- The pure parts of review: the words of a hunk, places in the proposed text, and painting.

local hunks = require("azimuth.review.hunks")
local paint = require("azimuth.review.paint")
local support = require("support")

local T = {}

---@param old string
---@param new string
---@param more? table
local function hunk(old, new, more)
  return vim.tbl_extend("force", { hunkId = old .. new, oldText = old, newText = new, startLine = 0, state = "pending", toolCallIds = {} }, more or {})
end

---@param text string
---@param spans azimuth.review.Span[]
local function cut(text, spans)
  local lines = hunks.lines(text)
  return vim.tbl_map(function(span)
    return lines[span.row + 1]:sub(span.from + 1, span.to)
  end, spans)
end

function T.changed_words_are_found_on_both_sides()
  local one = hunk("local a = 30\nreturn a\n", "local a = 32\nreturn a + b\n")
  local old, new = hunks.words(one)
  support.equal(cut(one.oldText, old), { "30" })
  support.equal(cut(one.newText, new), { "32", " + b" })
end

function T.words_of_several_bytes_stay_whole()
  local one = hunk("der Körper ist schön\n", "der Körper ist schöner\n")
  local old, new = hunks.words(one)
  support.equal(cut(one.oldText, old), { "schön" })
  support.equal(cut(one.newText, new), { "schöner" })
end

function T.texts_with_little_in_common_have_no_changed_words()
  support.equal({ hunks.words(hunk("alpha beta gamma\n", "one two three\n")) }, { {}, {} })
  support.equal({ hunks.words(hunk("", "one\n")) }, { {}, {} })
  support.equal({ hunks.words(hunk(("x "):rep(20000), ("y "):rep(20000))) }, { {}, {} })
end

function T.hunks_are_found_by_their_lines_in_the_proposed_text()
  local proposal = {
    hunks = {
      hunk("a\n", "A\nB\n", { hunkId = "1", startLine = 1 }),
      hunk("gone\n", "", { hunkId = "2", startLine = 4 }),
      hunk("x\n", "y\n", { hunkId = "no", startLine = 6, state = "conflicted" }),
      hunk("", "new\n", { hunkId = "3", startLine = 8 }),
    },
  }
  local found = {}
  for row = 0, 9 do
    local at = hunks.at_proposed(proposal, row)
    table.insert(found, at and at.hunkId or "-")
  end
  support.equal(found, { "-", "1", "1", "-", "2", "2", "-", "-", "3", "-" })
end

function T.counts_are_of_open_hunks_only()
  local count = hunks.count({
    hunks = { hunk("a\nb\n", "c\n"), hunk("a\n", "", { state = "accepted" }), hunk("", "x\ny\n", { state = "conflicted" }) },
  })
  support.equal(count, { hunks = 2, conflicts = 1, added = 3, removed = 2 })
end

function T.what_waits_and_what_has_landed_are_told_apart()
  local function proposal(change, states, is_landed)
    return {
      change = change,
      landed = is_landed,
      hunks = vim.tbl_map(function(state)
        return hunk("a\n", "b\n", { state = state })
      end, states),
    }
  end
  local waits = proposal("modify", { "pending" })
  local changed = proposal("modify", { "pending", "conflicted" }, true)
  local made, deleted = proposal("create", { "pending" }, true), proposal("delete", { "pending" }, true)
  local kept = proposal("create", { "rejected" }, true)
  local stuck = proposal("modify", { "conflicted" }, true)
  local all = { changed, waits, made, deleted, kept, stuck }
  support.equal(hunks.of_kind(all, false), { waits })
  support.equal(#hunks.of_kind(all, true), 5)
  support.equal({ hunks.to_take_back(all) }, { { changed, made, deleted }, 2, 1 })
  local of_landed, of_waiting = { proposal = changed, hunk = changed.hunks[1] }, { proposal = waits, hunk = waits.hunks[1] }
  support.equal(hunks.one_kind({ of_landed, of_waiting }), { of_waiting })
  support.equal(hunks.one_kind({ of_landed }), { of_landed })
end

---@param chunks azimuth.review.Chunk[]
local function joined(chunks)
  return table.concat(vim.tbl_map(function(chunk)
    return chunk[1]
  end, chunks))
end

---@param one azimuth.Hunk
---@param lines? string[]
---@param language? string
---@param row? integer
local function painted(one, lines, language, row)
  local source = paint.source(lines or {}, { { hunk = one, row = row or 0 } }, language)
  return paint.added(one, source, 4, "Base", "Strong")
end

--- A document that a command has changed: a line in place of another, two more, and two less.
local landed = {
  proposalId = "p1",
  landed = true,
  change = "modify",
  path = "a.txt",
  uri = "file:///landed/a.txt",
  revision = 1,
  hunks = {
    { hunkId = "h1", startLine = 1, oldText = "two\n", newText = "2\n", state = "pending", lineBefore = "one\n", lineAfter = "three\n" },
    { hunkId = "h2", startLine = 3, oldText = "", newText = "new\nlines\n", state = "pending", lineBefore = "three\n", lineAfter = "four\n" },
    { hunkId = "h3", startLine = 6, oldText = "gone\ntoo\n", newText = "", state = "pending", lineBefore = "four\n" },
  },
}
local after_command = { "one", "2", "three", "new", "lines", "four" }

function T.what_has_landed_is_marked_in_the_document_and_what_went_hangs_there()
  local marks = require("azimuth.review.marks")
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, after_command)
  marks.show(bufnr, { landed })
  local places = vim.tbl_map(function(place)
    return { place.row, place.last, place.item.hunk.hunkId }
  end, marks.list(bufnr))
  support.equal(places, { { 1, 1, "h1" }, { 3, 4, "h2" }, { 5, 5, "h3" } })
  local virtual, highlighted, signs = {}, {}, {}
  local namespace = vim.api.nvim_get_namespaces()["azimuth.review"]
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
    for _, line in ipairs(mark[4].virt_lines or {}) do
      -- Below this row.
      local group = line[1][2]
      table.insert(virtual, { mark[2], vim.trim(line[1][1]), type(group) == "table" and group[1] or group })
    end
    if mark[4].hl_group then
      table.insert(highlighted, { mark[2], mark[4].end_row, mark[4].hl_group })
    end
    if mark[4].sign_text then
      table.insert(signs, vim.trim(mark[4].sign_text))
    end
  end
  support.equal(virtual, { { 0, "two", "AzimuthDelete" }, { 5, "gone", "AzimuthDelete" }, { 5, "too", "AzimuthDelete" } })
  support.equal(highlighted, { { 1, 2, "AzimuthAdd" }, { 3, 5, "AzimuthAdd" } })
  support.equal(signs, { "~", "+", "-" })
  -- It moves with what the user types, as any other.
  vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { "typed" })
  support.equal(marks.list(bufnr)[1].row, 2)
  marks.show(bufnr, {})
  vim.api.nvim_buf_delete(bufnr, { force = true })
end

function T.the_text_before_holds_the_hunks_that_landed_where_they_were()
  local places = vim.tbl_map(function(place)
    return { place.hunk.hunkId, place.first, place.count }
  end, hunks.placed(landed))
  support.equal(places, { { "h1", 1, 1 }, { "h2", 3, 0 }, { "h3", 4, 2 } })
  support.equal(hunks.at_proposed(landed, 5).hunkId, "h3")
end

function T.hunks_that_landed_are_counted_apart_and_named_as_what_they_are()
  local fold = require("azimuth.fold")
  local status = require("azimuth.status")
  local keys = require("azimuth.review.keys")
  local state = fold.new()
  local function proposed(proposal)
    fold.apply(state, { seq = state.seq + 1, at = 1, event = { type = "proposalChanged", proposal = proposal } })
  end
  proposed(landed)
  support.equal({ fold.pending(state) }, { 0, 3 })
  support.equal(status.hunks(state), "3 hunks already in")
  local decided = vim.deepcopy(state)
  for _, decision in ipairs({ { "accept", "h1" }, { "reject", "h2" }, { "reject", "h3" } }) do
    local event = { type = "reviewDecided", decision = decision[1], proposalId = "p1", hunkIds = { decision[2] } }
    fold.apply(decided, { seq = decided.seq + 1, at = 1, event = event })
  end
  local applied = { type = "editApplied", proposalId = "p1", hunkIds = { "h2" }, uri = landed.uri, outcome = { type = "verified" } }
  fold.apply(decided, { seq = decided.seq + 1, at = 1, event = applied })
  support.equal(vim.tbl_map(function(one)
    return one.state
  end, decided.proposals.p1.hunks), { "accepted", "rejected", "applying" })
  local waiting = vim.tbl_extend("force", landed, { proposalId = "p2", landed = false, hunks = { landed.hunks[1] } })
  proposed(waiting)
  support.equal(status.hunks(state), "1 hunk and 3 already in")
  support.contains(keys.hint({ proposal = landed, hunk = landed.hunks[1] }, 100), "keep · ")
  support.contains(keys.hint({ proposal = landed, hunk = landed.hunks[1] }, 100), "take back")
  support.contains(keys.hint({ proposal = waiting, hunk = landed.hunks[1] }, 100), "reject")
end

function T.hostile_text_is_shown_as_text()
  local lines = painted(hunk("", "a\27[31mb\226\128\174c\tend\n" .. ("x"):rep(1000000) .. "\n"), {}, "lua")
  support.equal(joined(lines[1]), "a^[[31mb<202e>c end")
  assert(#joined(lines[2]) < 3000, "a long line is cut")
  support.contains(joined(lines[2]), "more bytes")
end

function T.added_lines_have_syntax_and_changed_words()
  local one = hunk("local answer = 30\n", "local answer = 32\n")
  local lines = painted(one, { "-- head", "local answer = 30", "return answer" }, "lua", 1)
  local groups = {}
  for _, chunk in ipairs(lines[1]) do
    groups[vim.trim(chunk[1])] = chunk[2]
  end
  support.equal(groups["local"], { "Base", "@keyword.lua" })
  support.equal(groups["32"], { "Base", "@number.lua", "Strong" })
end

function T.syntax_is_that_of_the_whole_text()
  local one = hunk("old\n", "local x = 1\n")
  local lines = painted(one, { "--[[", "old", "]]", "return 1" }, "lua", 1)
  support.equal(lines[1][1][2], { "Base", "@comment.lua" })
end

function T.hunks_of_a_text_are_parsed_together()
  local first, second = hunk("a\n", "x = 1\ny = 2\n"), hunk("c\n", "")
  local third = hunk("", "z = 3\n")
  local source = paint.source({ "a", "b", "c", "d" }, {
    { hunk = first, row = 0 },
    { hunk = second, row = 2 },
    { hunk = third, row = 4 },
  }, "lua")
  support.equal(source.lines(), { "x = 1", "y = 2", "b", "d", "z = 3" })
  support.equal({ source.first[first.hunkId], source.first[second.hunkId], source.first[third.hunkId] }, { 0, 3, 4 })
end

function T.a_language_without_a_parser_and_broken_bytes_do_no_harm()
  local lines = painted(hunk("", "a \255\254 b\n"), {}, "nosuch")
  support.equal(#lines, 1)
  support.contains(joined(lines[1]), "<ff>")
end

function T.lines_are_fitted_to_a_width()
  local fitted = paint.fitted({ { "abcdefg", "A" }, { "hij", "B" } }, 4, "Base")
  support.equal(vim.tbl_map(joined, fitted), { "abcd", "efgh", "ij  " })
  support.equal(vim.tbl_map(joined, paint.fitted({ { "あいう", "A" } }, 5, "Base")), { "あい ", "う   " })
  support.equal(vim.tbl_map(joined, paint.fitted({}, 3, "Base")), { "   " })
end

function T.the_help_names_every_group_and_key()
  local help = support.read(support.plugin .. "/doc/azimuth-review.txt")
  for name, link in pairs(require("azimuth.review.highlights").groups) do
    assert(help:find(name .. "%s+" .. link), name .. " is not in the help")
  end
  for _, key in ipairs(require("azimuth.review.keys").keys) do
    support.contains(help, "\t" .. key.lhs() .. "\t")
  end
  local tags = vim.uv.fs_mkdtemp(vim.uv.os_tmpdir() .. "/azimuth-doc-XXXXXX")
  for _, name in ipairs({ "azimuth.txt", "azimuth-review.txt", "azimuth-inline.txt" }) do
    support.write(tags .. "/" .. name, support.read(support.plugin .. "/doc/" .. name))
  end
  vim.cmd("helptags " .. tags)
  local known = support.read(tags .. "/tags")
  vim.fn.delete(tags, "rf")
  for tag in help:gmatch("|([aA]zimuth[%w:.-]*)|") do
    support.contains(known, tag .. "\t")
  end
end

function T.deleted_lines_have_a_background_as_added_ones_do()
  local function background(group)
    return vim.api.nvim_get_hl(0, { name = group, link = false }).bg
  end
  require("azimuth.review.highlights")
  for _, scheme in ipairs({ "default", "habamax", "vim" }) do
    for _, ground in ipairs({ "dark", "light" }) do
      vim.o.background = ground
      vim.cmd.colorscheme(scheme)
      local what = scheme .. ", " .. ground
      assert(background("AzimuthDelete"), what)
      assert(background("AzimuthDelete") ~= background("AzimuthAdd"), what)
      assert(background("AzimuthDeleteText") ~= background("AzimuthDelete"), what)
    end
  end
  vim.cmd.colorscheme("default")
  vim.api.nvim_set_hl(0, "AzimuthDelete", { bg = 0x123456 })
  vim.o.background = "light"
  support.equal(background("AzimuthDelete"), 0x123456, "the user's own stays")
  vim.cmd.colorscheme("default")
end

return T
