--- The subject of an instruction, its sign, and the code action; no server is needed.

local fold = require("azimuth.fold")
local selections = require("azimuth.change.selection")
local server = require("azimuth.server")
local sign = require("azimuth.change.sign")
local support = require("support")

local T = {}

--- Runs a test in a buffer of some lines.
---@param lines string[]
---@param test fun(bufnr: integer)
local function with_buffer(lines, test)
  local bufnr = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.api.nvim_set_current_buf(bufnr)
  local ok, problem = xpcall(test, debug.traceback, bufnr)
  vim.api.nvim_buf_delete(bufnr, { force = true })
  assert(ok, problem)
end

---@param range azimuth.Range
---@return integer[]
local function numbers(range)
  return { range.start.line, range.start.character, range["end"].line, range["end"].character }
end

function T.lines_end_where_the_next_one_begins_also_behind_the_last_one()
  with_buffer({ "one", "two", "three" }, function(bufnr)
    support.equal(numbers(selections.ranges(selections.lines(bufnr, 0, 1), "utf-16")[1]), { 0, 0, 2, 0 })
    support.equal(numbers(selections.ranges(selections.lines(bufnr, 1, 2), "utf-16")[1]), { 1, 0, 3, 0 })
    vim.bo[bufnr].endofline = false
    support.equal(numbers(selections.ranges(selections.lines(bufnr, 1, 2), "utf-16")[1]), { 1, 0, 2, 5 })
  end)
end

function T.all_lines_are_the_whole_file_which_has_no_range()
  with_buffer({ "one", "two" }, function(bufnr)
    local selection = selections.lines(bufnr, 0, 1)
    support.equal(selections.words(selection), "the whole file")
    support.equal(selections.ranges(selection, "utf-16"), {})
  end)
end

function T.a_range_of_the_client_is_lines_a_part_or_the_cursor()
  with_buffer({ "one", "zwölf 𝄞 drei", "three" }, function(bufnr)
    local function of(first, character, last, last_character)
      local from, to = { line = first, character = character }, { line = last, character = last_character }
      local selection = selections.of_range(bufnr, { start = from, ["end"] = to }, "utf-16")
      return { selections.words(selection), numbers(selections.ranges(selection, "utf-16")[1]) }
    end
    support.equal(of(1, 0, 2, 0), { "line 2", { 1, 0, 2, 0 } })
    support.equal(of(1, 9, 1, 13), { "“drei”", { 1, 9, 1, 13 } })
    support.equal(of(0, 1, 1, 5), { "a part of lines 1–2", { 0, 1, 1, 5 } })
    support.equal(of(2, 2, 2, 2), { "line 3", { 2, 2, 2, 2 } })
  end)
end

function T.a_selection_moves_with_the_text_and_grows_with_what_replaces_it()
  with_buffer({ "one", "two", "three", "four" }, function(bufnr)
    local selection = selections.lines(bufnr, 1, 2)
    vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, { "zero" })
    support.equal(numbers(selections.ranges(selection, "utf-16")[1]), { 2, 0, 4, 0 })
    vim.api.nvim_buf_set_text(bufnr, 2, 0, 4, 0, { "2", "2.5", "3", "" })
    support.equal(numbers(selections.ranges(selection, "utf-16")[1]), { 2, 0, 5, 0 })
    support.equal(selections.touches(selection, 4, 4), true)
    support.equal(selections.touches(selection, 5, 5), false)
  end)
end

function T.the_sign_says_what_goes_on()
  local state = fold.new()
  local function apply(event)
    fold.apply(state, { seq = state.seq + 1, at = 0, event = event })
    return sign.doing(state)
  end
  local prompt = { { type = "text", text = "Do." } }
  support.equal(apply({ type = "turnStarted", turnId = "t", prompt = prompt }), "changing…")
  local call = { turnId = "t", toolCallId = "c", name = "read_file", kind = "read", title = "Reading a.lua" }
  support.equal(apply(vim.tbl_extend("error", call, { type = "toolCallStarted" })), "Reading a.lua…")
  local result = { toolCallId = "c", isError = false }
  apply({ type = "toolCallEnded", turnId = "t", summary = "", durationMs = 1, result = result })
  local delta = { messageId = "m", toolCallId = "d", path = "a.lua", text = " one\n-two\n+2\n+2.5\n" }
  support.equal(apply(vim.tbl_extend("error", delta, { type = "editDelta" })), "changing… 2 lines so far")
end

function T.the_code_action_is_offered_only_when_the_user_asks()
  local function titles(context)
    local params = { textDocument = { uri = "file:///a" }, range = {}, context = context }
    return vim.tbl_map(function(action)
      return action.title
    end, server.with_change(params, { { title = "Other" } }))
  end
  local change = "Azimuth: change this…"
  support.equal(titles({ triggerKind = 1 }), { "Other", change })
  support.equal(titles({ triggerKind = 2 }), { "Other" })
  support.equal(titles({ only = { "quickfix" } }), { "Other" })
  support.equal(titles({ only = { "azimuth" } }), { "Other", change })
end

return T
