--- The pure parts: the fold of events, how entries look, what a prompt's text comes to.

local fold = require("azimuth.fold")
local live_diff = require("azimuth.live_diff")
local prompt = require("azimuth.prompt")
local protocol = require("azimuth.generated.protocol")
local render = require("azimuth.render")
local support = require("support")
local text = require("azimuth.text")

local T = {}

--- The state after these events.
---@param events table[]
---@return azimuth.State
local function folded(events)
  local state = fold.new()
  for seq, event in ipairs(events) do
    fold.apply(state, { seq = seq, at = seq * 1000, event = event })
  end
  return state
end

---@param state azimuth.State
---@return string[]
local function kinds(state)
  local list = {}
  for _, entry in ipairs(state.entries) do
    table.insert(list, entry and entry.kind or "void")
  end
  return list
end

local usage = { input = 10, output = 5, cacheRead = 0, cacheWrite = 0 }

local function turn_started(id, said)
  return { type = "turnStarted", turnId = id, prompt = { { type = "text", text = said } }, context = "", model = "test/m", mode = "agent" }
end

local function turn_ended(id, reason)
  return { type = "turnEnded", turnId = id, stopReason = reason or "end_turn", usage = usage, cost = 0.5 }
end

function T.every_kind_of_event_shows_something_or_is_one_that_nobody_sees()
  local said = vim.list_extend(vim.tbl_keys(fold.on), vim.tbl_keys(protocol.unseen_events))
  vim.list_extend(said, vim.tbl_keys(protocol.spoken_events))
  local known = vim.list_slice(protocol.event_kinds)
  table.sort(said)
  table.sort(known)
  support.equal(said, known)
end

local function compacted(id)
  local made = { compactionId = id, reason = "full", messages = 4, facts = "## Files", written = "Notes", before = 153000, after = 21340 }
  return { type = "compacted", turnId = "t1", compaction = made }
end

function T.a_hand_over_is_a_card_that_can_be_corrected_and_goes_with_those_that_stand_on_it()
  local asked = turn_started("t1", "")
  asked.prompt, asked.compacts = {}, true
  local events = { asked, { type = "compacting", turnId = "t1", reason = "full" } }
  support.equal(folded(events).compacting, true)
  vim.list_extend(events, { compacted("c"), compacted("d"), { type = "compactionCorrected", compactionId = "d", written = "Mine" } })
  local state = folded(events)
  support.equal(kinds(state), { "handover", "handover" })
  support.equal({ state.compacting, state.handovers }, { false, { "c", "d" } })
  local first = render.entry(state.entries[1])
  support.equal(first.lines[2], "21.3k tokens instead of 153.0k")
  support.equal(vim.list_contains(first.lines, "Notes"), true)
  support.equal(first.lines[first.fold.first + 1], "The facts, from the log")
  support.equal(vim.list_contains(render.entry(state.entries[2]).lines, "Mine"), true)
  table.insert(events, { type = "compactionTakenBack", compactionId = "c" })
  state = folded(events)
  support.equal(state.handovers, {})
  support.equal(render.entry(state.entries[2]).lines[1], "The handover is taken back")
end

function T.a_plan_that_is_saved_late_keeps_what_the_model_has_done_meanwhile()
  local plan = require("azimuth.plan")
  local step = function(content, status)
    return { content = content, status = status }
  end
  local before = { step("a", "in_progress"), step("b", "pending"), step("c", "pending") }
  local mine = { step("b", "pending"), step("a", "in_progress"), step("c", "completed"), step("mine", "pending") }
  local now = { step("a", "completed"), step("b", "in_progress"), step("c", "pending"), step("new", "pending") }
  support.equal(plan.merged(mine, before, now), {
    step("b", "in_progress"),
    step("a", "completed"),
    step("c", "completed"),
    step("mine", "pending"),
    step("new", "pending"),
  })
end

function T.deltas_are_replaced_by_the_whole_message()
  local state = folded({
    turn_started("t1", "hi"),
    { type = "thinkingDelta", messageId = "m1", text = "hm" },
    { type = "messageDelta", messageId = "m1", text = "Hel" },
    { type = "messageDelta", messageId = "m1", text = "lo" },
  })
  support.equal(kinds(state), { "user", "thinking", "assistant" })
  support.equal(state.entries[3].text, "Hello")
  support.equal(state.entries[3].done, nil)
  fold.apply(state, {
    seq = 5,
    at = 5,
    event = {
      type = "messageCompleted",
      turnId = "t1",
      messageId = "m1",
      content = { { type = "thinking", text = "hmm" }, { type = "text", text = "Hello!" } },
      usage = usage,
    },
  })
  support.equal(kinds(state), { "user", "thinking", "assistant" })
  support.equal(state.entries[2].text, "hmm")
  support.equal(state.entries[3].text, "Hello!")
  support.equal(state.entries[3].done, true)
end

function T.a_discarded_message_is_void_and_may_come_again()
  local state = folded({
    turn_started("t1", "hi"),
    { type = "messageDelta", messageId = "m1", text = "broken" },
    { type = "messageDiscarded", messageId = "m1" },
    { type = "retrying", turnId = "t1", attempt = 1, of = 3, delayMs = 17000, reason = "overloaded." },
  })
  support.equal(kinds(state), { "user", "void" })
  support.equal(state.retrying.attempt, 1)
  fold.apply(state, { seq = 5, at = 5, event = { type = "messageDelta", messageId = "m2", text = "whole" } })
  support.equal(kinds(state), { "user", "void", "assistant" })
  support.equal(state.retrying, nil)
end

function T.a_wait_for_the_model_counts_down_and_can_be_ended()
  local seconds, micros = vim.uv.gettimeofday()
  local now = seconds * 1000 + math.floor(micros / 1000)
  local state = folded({ turn_started("t1", "hi") })
  local retrying = { type = "retrying", turnId = "t1", attempt = 2, of = 3, delayMs = 17000, reason = "overloaded." }
  fold.apply(state, { seq = 2, at = now, event = retrying })
  local status = require("azimuth.status")
  support.equal(status.doing(state), "tries again in 17 s")
  local lines = render.footer(state).lines
  support.equal(lines[1]:match("^overloaded; retry 2 of 3 at %d%d:%d%d:%d%d$") ~= nil, true)
  support.equal(lines[2], "gr asks again now, <C-c> stops")
  retrying.delayMs = 0
  fold.apply(state, { seq = 3, at = now, event = retrying })
  support.equal(status.doing(state), "tries again")
  support.equal(render.footer(state).lines, { "overloaded; retry 2 of 3 now" })
end

function T.a_turn_that_goes_on_with_another_model_says_so()
  local switch = { type = "turnModelChanged", turnId = "t1", model = "b/two", insteadOf = "a/one", reason = "quota_used_up" }
  switch.error = "a says that no credit is left. Add credit."
  local state = folded({ turn_started("t1", "hi"), switch })
  support.equal(state.entries[2].text, "The quota of a/one is used up (a says that no credit is left. Add credit); b/two continues.")
  support.equal({ state.model, state.turn_model, state.entries[2].severity }, { "test/m", "b/two", "warning" })
  switch.reason, switch["until"] = "rate_limited", 1000
  state = folded({ turn_started("t1", "hi"), switch })
  support.equal(state.entries[2].text:match("^a/one takes no more requests until .*; b/two continues%.$") ~= nil, true)
  switch.model, switch["until"], switch.account = "a/one", nil, { name = "work", insteadOf = "FIRST_KEY" }
  state = folded({ turn_started("t1", "hi"), switch })
  support.equal(state.entries[2].text, "a (FIRST_KEY) takes no more requests; a (work) continues.")
end

function T.the_session_keeps_its_own_model_and_level_where_a_turn_goes_on_with_another()
  local status = require("azimuth.status")
  local own = { type = "modelChanged", model = "test/m", thinking = "high" }
  local switch = { type = "turnModelChanged", turnId = "t1", model = "b/two", insteadOf = "test/m", reason = "failed" }
  switch.thinking = "low"
  local state = folded({ own, turn_started("t1", "hi"), switch })
  support.equal({ status.model(state) }, { "b/two", "low" })
  support.equal({ state.model, state.thinking }, { "test/m", "high" })
  support.equal({ status.model(folded({ own, turn_started("t1", "hi"), switch, turn_ended("t1") })) }, { "test/m", "high" })
end

local function edit_delta(call, path, piece)
  return { type = "editDelta", messageId = "m1", toolCallId = call, path = path, text = piece }
end

function T.the_diff_of_an_edit_grows_while_its_call_arrives()
  local state = folded({
    turn_started("t1", "hi"),
    { type = "messageDelta", messageId = "m1", text = "I change it." },
    edit_delta("c1", "a.lua", " one\n-tw"),
    edit_delta("c1", "a.lua", "o\n+2\n"),
    edit_delta("c1", "b.lua", "+```\n+# You\n"),
  })
  support.equal(kinds(state), { "user", "assistant", "diff", "diff" })
  local block = render.entry(state.entries[3])
  support.equal(block.lines, { "◌ a.lua  +1 -1", "```diff", " one", "-two", "+2", "```" })
  local groups = {}
  for _, mark in ipairs(block.marks) do
    groups[block.lines[mark.row + 1]] = mark.group
  end
  support.equal({ groups["-two"], groups["+2"], groups[" one"] }, { "AzimuthDelete", "AzimuthAdd" })
  support.equal(render.entry(state.entries[4]).lines, { "◌ b.lua  +2 -0", "````diff", "+```", "+# You", "````" })
end

function T.a_long_diff_shows_where_it_grows()
  local pieces = {}
  for line = 1, 100 do
    pieces[line] = "+line " .. line .. "\n"
  end
  local state = folded({ turn_started("t1", "hi"), edit_delta("c1", "a.lua", table.concat(pieces)) })
  local block = render.entry(state.entries[2])
  support.equal({ block.lines[1], block.lines[2], block.lines[4] }, { "◌ a.lua  +100 -0", "… 60 lines above", "+line 61" })
  support.equal(block.lines[#block.lines - 1], "+line 100")
end

--- Returns the lines of a diff as they are drawn from all of its text.
---@param whole string
---@return string[]
local function drawn_whole(whole)
  local lines = text.lines(whole)
  if lines[#lines] == "" then
    table.remove(lines)
  end
  local added, removed, longest = 0, 0, 2
  for _, line in ipairs(lines) do
    added = added + (line:sub(1, 1) == "+" and 1 or 0)
    removed = removed + (line:sub(1, 1) == "-" and 1 or 0)
  end
  for run in whole:gmatch("`+") do
    longest = math.max(longest, #run)
  end
  local drawn = { ("◌ a.lua  +%d -%d"):format(added, removed) }
  if #lines > 40 then
    table.insert(drawn, ("… %s above"):format(text.plural(#lines - 40, "line")))
  end
  table.insert(drawn, ("`"):rep(longest + 1) .. "diff")
  vim.list_extend(drawn, lines, math.max(1, #lines - 39))
  table.insert(drawn, ("`"):rep(longest + 1))
  return drawn
end

function T.a_diff_looks_the_same_however_it_is_cut_into_pieces()
  math.randomseed(7)
  local parts = { "+", "-", " ", "\n", "\r\n", "`", "```", "word", "é", "🦀", "\t", ("x"):rep(700), "\n+", "\n-" }
  for round = 1, 200 do
    local whole = {}
    for _ = 1, math.random(1, 150) do
      table.insert(whole, parts[math.random(#parts)])
    end
    whole = table.concat(whole)
    local state, at = folded({ turn_started("t1", "hi") }), 1
    while at <= #whole do
      local stop = at + math.random(0, 40)
      fold.apply(state, { seq = at + 1, at = 1, event = edit_delta("c1", "a.lua", whole:sub(at, stop)) })
      at = stop + 1
      if round <= 40 then
        support.equal(render.entry(state.entries[2]).lines, drawn_whole(whole:sub(1, stop)), vim.inspect(whole:sub(1, stop)))
      end
    end
    support.equal(render.entry(state.entries[2]).lines, drawn_whole(whole), vim.inspect(whole))
  end
end

function T.of_a_long_diff_only_the_end_is_kept()
  local state = folded({ turn_started("t1", "hi") })
  local piece = ("+a line of it\n"):rep(10) .. ("y"):rep(500)
  for seq = 2, 2000 do
    fold.apply(state, { seq = seq, at = 1, event = edit_delta("c1", "a.lua", seq < 1000 and piece or ("z"):rep(500)) })
  end
  local kept = #vim.inspect(state.entries[2])
  assert(kept < 40 * text.MAX_LINE, kept .. " bytes are kept of it")
end

function T.a_diff_goes_when_its_message_is_whole_or_discarded_or_the_turn_ends()
  local whole = { type = "messageCompleted", turnId = "t1", messageId = "m1", content = {}, usage = usage }
  local steered = { type = "steered", turnId = "t1", prompt = { { type = "text", text = "wait" } } }
  for _, last in ipairs({ whole, { type = "messageDiscarded", messageId = "m1" }, turn_ended("t1", "cancelled") }) do
    local state = folded({ turn_started("t1", "hi"), edit_delta("c1", "a.lua", "+a"), edit_delta("c2", "b.lua", "+b"), steered, last })
    support.equal(vim.list_slice(kinds(state), 1, 4), { "user", "void", "void", "user" }, last.type)
  end
end

function T.what_an_undo_did_stands_in_the_chat_with_the_reasons_of_what_it_left()
  local restored = {
    type = "checkpointRestored",
    direction = "undo",
    turnIds = { "t1" },
    files = {
      { uri = "file:///a", path = "a", outcome = { type = "done" } },
      { uri = "file:///b", path = "b", outcome = { type = "left", reason = "it was changed since" } },
      { uri = "file:///c", path = "c", outcome = { type = "unverified" } },
      { uri = "file:///d", path = "d", outcome = { type = "failed", reason = "the disk is full" } },
    },
  }
  local state = folded({ turn_started("t1", "hi"), turn_ended("t1"), restored })
  support.equal(render.entry(state.entries[3]).lines, {
    "",
    "Undone: 2 of 4 files",
    "  – b  left as it is: it was changed since",
    "  – d  failed: the disk is full",
    "  ✓ a",
    "  ✓ c  the editor did not show it yet",
    "",
  })
  fold.apply(state, { seq = 4, at = 4, event = vim.tbl_extend("force", restored, { direction = "redo", turnIds = { "t1", "t0" } }) })
  support.equal(render.entry(state.entries[4]).lines[2], "Redone: 2 of 4 files, 2 turns")
end

--- Returns the line at the head of a turn.
---@param state azimuth.State
---@param at integer
local function head(state, at)
  return render.entry(state.entries[at]).lines[1]
end

---@param turn string
---@param path string
---@param before? string
---@param after? string
---@param outcome? string
local function applied(turn, path, before, after, outcome)
  return {
    type = "editApplied",
    proposalId = "p1",
    hunkIds = {},
    uri = "file:///" .. path,
    turnId = turn,
    before = before,
    after = after,
    outcome = { type = outcome or "verified", reason = "the disk is full" },
  }
end

function T.the_files_that_a_turn_changed_are_counted_at_its_head()
  local function changed(path, before, after, call)
    return { type = "filesChanged", turnId = "t1", toolCallId = call, files = { { uri = "file:///" .. path, before = before, after = after } } }
  end
  local steps = {
    { turn_started("t1", "hi"), "You" },
    { applied("t1", "a", "1", "2"), "You · changed 1 file" },
    { applied("t1", "b", nil, "1", "unverified"), "You · changed 2 files" },
    { applied("t1", "c", "1", "2", "failed"), "You · changed 2 files" },
    -- The same file once more, and a file that is as it was.
    { applied("t1", "a", "2", "3"), "You · changed 2 files" },
    { applied("t1", "a", "3", "1"), "You · changed 1 file" },
    { { type = "formatted", turnId = "t1", uri = "file:///d", before = "1", after = "2", added = 1, removed = 1 }, "You · changed 2 files" },
    { changed("e", { hash = "1" }, { hash = "2" }), "You · changed 2 files" },
    { changed("e", { hash = "1" }, nil, "c1"), "You · changed 3 files" },
    -- Line ends, and the right to run it.
    { changed("f", { hash = "1", bytes = "1" }, { hash = "1", bytes = "2" }, "c1"), "You · changed 4 files" },
    { changed("g", { hash = "1", bytes = "1" }, { hash = "1", bytes = "1", executable = true }, "c1"), "You · changed 5 files" },
    { changed("h", nil, nil, "c1"), "You · changed 5 files" },
  }
  local state = folded({})
  for at, step in ipairs(steps) do
    fold.apply(state, { seq = at, at = at, event = step[1] })
    support.equal(head(state, 1), step[2], at .. ". " .. step[1].type)
  end
end

function T.only_what_was_taken_back_of_a_turn_is_called_so()
  local function restored(direction, files)
    return { type = "checkpointRestored", direction = direction, turnIds = { "t2", "t1" }, files = files }
  end
  local function step(turn, from, to)
    return { turnId = turn, from = from and { hash = from }, to = to and { hash = to } }
  end
  local state = folded({
    turn_started("t1", "one"),
    applied("t1", "a", "1", "2"),
    turn_ended("t1"),
    turn_started("t2", "two"),
    applied("t2", "a", "2", "3"),
    applied("t2", "b", nil, "1"),
    turn_ended("t2"),
    turn_started("t3", "three"),
    turn_ended("t3"),
  })
  local function heads()
    return { head(state, 1), head(state, 3), head(state, 5) }
  end
  local function apply(event)
    fold.apply(state, { seq = state.seq + 1, at = 1, event = event })
  end
  support.equal(heads(), { "You · changed 1 file", "You · changed 2 files", "You" })
  -- Nothing was done, as where all files were changed since.
  apply(restored("undo", { { uri = "file:///a", path = "a", outcome = { type = "left", reason = "it was changed since" } } }))
  support.equal(heads(), { "You · changed 1 file", "You · changed 2 files", "You" })
  apply(restored("undo", {
    { uri = "file:///a", path = "a", outcome = { type = "done" }, steps = { step("t2", "3", "2"), step("t1", "2", "1") } },
    { uri = "file:///b", path = "b", outcome = { type = "left", reason = "it was changed since" } },
  }))
  support.equal(heads(), { "You · 1 file undone", "You · changed 1 file, 1 undone", "You" })
  apply(restored("redo", { { uri = "file:///a", path = "a", outcome = { type = "done" }, steps = { step("t1", "1", "2") } } }))
  support.equal(heads(), { "You · changed 1 file", "You · changed 1 file, 1 undone", "You" })
end

function T.why_an_answer_is_not_whole_or_was_not_given_is_said_once()
  local function drawn(reason, error)
    local ended = turn_ended("t1", reason)
    ended.error = error
    return render.entry(folded({ turn_started("t1", "hi"), ended }).entries[2]).lines
  end
  local why = "The model would not answer: it may help an attack (cyber)."
  local refused = table.concat(drawn("refusal", why), "\n")
  support.equal({ select(2, refused:gsub("would not answer", "")) }, { 1 }, refused)
  assert(refused:find(why, 1, true), refused)
  local cut = drawn("max_tokens", "The answer is not whole: it reached its maximum length, 32000 tokens.")
  support.equal(cut[1], "The answer is not whole: it reached its maximum length, 32000 tokens.")
  assert(drawn("max_tokens")[1]:find("maximum length", 1, true), "also of a log from before the reason was kept")
end

function T.files_that_a_command_changed_are_named_and_many_are_folded()
  local function changed(name, more)
    return vim.tbl_extend("force", { uri = "file:///p/" .. name, before = { hash = "1" }, after = { hash = "2" } }, more or {})
  end
  local event = { type = "filesChanged", turnId = "t1", toolCallId = "c1", files = {
    changed("a"),
    { uri = "file:///p/b", after = { hash = "2" } },
    { uri = "file:///p/c", before = { hash = "2" } },
    { uri = "file:///p/d", unknown = "it is too large" },
  } }
  local state = folded({ turn_started("t1", "hi"), event })
  local block = render.entry(state.entries[2])
  support.equal(block.lines, {
    "The command changed 4 files",
    "  M /p/a",
    "  A /p/b",
    "  D /p/c",
    "  M /p/d · cannot be undone: it is too large",
    "",
  })
  support.equal(block.fold, nil)
  event = vim.deepcopy(event)
  event.toolCallId = nil
  for at = 5, 20 do
    table.insert(event.files, changed("f" .. at))
  end
  block = render.entry(folded({ turn_started("t1", "hi"), event }).entries[2])
  support.equal(vim.list_slice(block.lines, 1, 3), { "Another program changed 20 files", "  20 files", "  M /p/a" })
  support.equal(block.fold, { first = 1, last = 21 })
end

function T.a_formatter_is_named_with_what_it_changed()
  local event = { type = "formatted", turnId = "t1", uri = "file:///p/a.lua", before = "1", after = "2", added = 2, removed = 1, by = "stylua" }
  local state = folded({ turn_started("t1", "hi"), event })
  support.equal(render.entry(state.entries[2]).lines, { "Formatted by stylua: /p/a.lua  +2 -1" })
end

function T.edits_are_accepted_for_the_session_or_for_the_project()
  local status = require("azimuth.status")
  local state = folded({ { type = "acceptEditsChanged", on = true } })
  support.equal({ state.accept_edits, status.accepting(state) }, { true, "accepts edits" })
  fold.apply(state, { seq = 2, at = 2, event = { type = "acceptEditsChanged", on = true, scope = "project" } })
  support.equal({ state.accept_edits, status.accepting(state) }, { true, "accepts edits (project)" })
end

function T.unknown_events_and_fields_are_passed_over()
  local state = folded({ { type = "fromTheFuture", data = {} }, { type = "titleChanged", title = "T", shade = "red" } })
  support.equal(state.title, "T")
  support.equal(state.seq, 2)
  support.equal(#state.entries, 0)
end

function T.a_question_is_open_until_it_is_answered()
  local request = {
    permissionId = "p1",
    about = "tool_call",
    title = "Run a command?",
    detail = "make",
    reason = "no rule",
    options = { { optionId = "once", name = "Allow once", kind = "allow_once" } },
    toolCallId = "c1",
  }
  local state = folded({
    turn_started("t1", "hi"),
    { type = "toolCallStarted", turnId = "t1", toolCallId = "c1", name = "shell_run", kind = "execute", title = "Running make", input = {}, locations = {} },
    { type = "permissionAsked", turnId = "t1", request = request },
  })
  support.equal(#state.questions, 1)
  support.equal(state.entries[2].status, "asking")
  fold.apply(state, {
    seq = 4,
    at = 4,
    event = { type = "permissionAnswered", permissionId = "p1", outcome = { type = "selected", optionId = "once" } },
  })
  support.equal(#state.questions, 0)
  support.equal(state.entries[2].status, "running")
  local block = render.entry(state.entries[3])
  support.equal(block.lines[1], "✓ Allow once · Run a command? make")
  support.equal(block.fold, { first = 0, last = #block.lines - 1 }, "what was asked is folded into that line")
end

function T.an_answered_question_begins_with_its_answer_however_long_it_is()
  local title = "Start the project's own language server " .. ("typescript-language-server "):rep(5)
  local options = {
    { optionId = "once", name = "Allow once", kind = "allow_once" },
    { optionId = "never", name = "Never start it", kind = "reject_always" },
  }
  local request = { permissionId = "p1", about = "program", title = title, detail = "", reason = "it is new", options = options }
  local function line(outcome)
    local asked = { type = "permissionAsked", turnId = "t1", request = request }
    local answered = { type = "permissionAnswered", permissionId = "p1", outcome = outcome }
    local block = render.entry(folded({ turn_started("t1", "hi"), asked, answered }).entries[2])
    support.equal(block.fold, { first = 0, last = 1 }, "a closed fold does not wrap")
    support.contains(block.lines[1], vim.trim(title))
    return block.lines[1]:sub(1, 80)
  end
  support.contains(line({ type = "selected", optionId = "once" }), "✓ Allow once · Start the project's own language")
  support.contains(
    line({ type = "selected", optionId = "never", message = "We use\nanother one." }),
    "✗ Never start it: We use another one. · Start"
  )
  support.contains(line({ type = "cancelled" }), "– Not answered · Start")
  support.contains(line({ type = "moot" }), "– Settled in another way · Start")
end

function T.that_a_models_price_is_not_known_is_said_once()
  local function changed(model)
    return { type = "modelChanged", model = model, scripted = false }
  end
  local function ended(id, cost)
    return vim.tbl_extend("force", turn_ended(id), { cost = cost })
  end
  local function unpriced(id, used)
    local event = turn_ended(id)
    event.cost, event.usage = nil, used or usage
    return event
  end
  local nothing = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }
  local function started(model)
    return vim.tbl_extend("force", turn_started("t", ""), { prompt = {}, model = model })
  end
  local events = { changed("test/a"), started("test/a"), unpriced("t0", nothing), started("test/a") }
  -- Another model is chosen while a turn of the first runs.
  vim.list_extend(events, { changed("test/b"), unpriced("t1"), started("test/a"), unpriced("t2") })
  vim.list_extend(events, { started("test/b"), unpriced("t3"), started("test/b"), ended("t4", 0.5) })
  local lines = {}
  for _, entry in ipairs(folded(events).entries) do
    if entry.kind ~= "user" then
      table.insert(lines, render.entry(entry).lines[1])
    end
  end
  support.equal(lines, {
    "Done",
    "Done · 10 in, 5 out · cost unknown: test/a has no known price",
    "Done · 10 in, 5 out",
    "Done · 10 in, 5 out · cost unknown: test/b has no known price",
    "Done · 10 in, 5 out · $0.500",
  })
end

function T.the_end_of_a_turn_ends_what_it_left_open()
  local state = folded({
    turn_started("t1", "hi"),
    { type = "toolCallStarted", turnId = "t1", toolCallId = "c1", name = "x", kind = "read", title = "Reading", input = {}, locations = {} },
    turn_ended("t1", "cancelled"),
  })
  support.equal(state.running, nil)
  support.equal(state.entries[2].status, "cancelled")
  support.equal(state.usage.input, 10)
  support.equal(state.cost, 0.5)
end

function T.a_request_that_became_no_message_counts_once_with_its_turn()
  local paid = { type = "requestPaid", turnId = "t1", usage = { input = 4, output = 0, cacheRead = 0, cacheWrite = 0 }, cost = 0.25 }
  -- The end of the turn contains it.
  local state = folded({ turn_started("t1", "hi"), paid, turn_ended("t1", "end_turn") })
  support.equal({ state.usage.input, state.cost }, { 10, 0.5 })
end

function T.a_call_shows_the_conversation_that_it_started_and_the_turn_counts_it()
  local call = { type = "toolCallStarted", turnId = "t1", toolCallId = "c1", name = "x", kind = "think", title = "Asking", input = {}, locations = {} }
  local function worked(rounds, doing, spent, cost)
    local event = { type = "childWorked", turnId = "t1", toolCallId = "c1", child = "abc123", model = "wise", rounds = rounds, doing = doing }
    return vim.tbl_extend("error", event, { usage = spent or { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 }, cost = cost })
  end
  local used = { input = 7, output = 0, cacheRead = 0, cacheWrite = 0 }
  local state = folded({ turn_started("t1", "hi"), call, worked(0), worked(1, nil, used, 0.25), worked(1, "Reading a.txt") })
  support.equal(state.entries[2].child.session_id, "abc123")
  local line = render.entry(state.entries[2]).lines[1]
  assert(line:find("Asking  wise · 1 round · Reading a.txt", 1, true), line)
  fold.apply(state, { seq = 6, at = 6, event = turn_ended("t1", "end_turn") })
  local last = state.entries[#state.entries]
  support.equal({ last.usage.input, last.cost }, { 17, 0.75 })
  support.equal({ state.usage.input, state.cost }, { 17, 0.75 })
  fold.apply(state, { seq = 7, at = 7, event = worked(2, nil, used, 0.25) })
  support.equal({ last.cost, state.cost }, { 0.75, 1 }, "what comes late counts for the conversation")
  for at, event in ipairs({ turn_started("t2", "hi"), worked(2, nil, used, 0.25), turn_ended("t2", "end_turn") }) do
    fold.apply(state, { seq = 7 + at, at = 7 + at, event = event })
  end
  last = state.entries[#state.entries]
  support.equal({ last.cost, state.cost }, { 0.5, 1.75 }, "and for no other turn")
end

-- Lua takes the last of two functions of one name and says nothing.
function T.no_event_is_taken_twice()
  local taken = {}
  for line in io.lines(vim.fs.joinpath(support.plugin, "lua/azimuth/fold.lua")) do
    local event = line:match("^function on%.(%w+)") or line:match("^on%.(%w+) =")
    if event then
      support.equal(taken[event], nil, event .. " is taken once")
      taken[event] = true
    end
  end
  support.equal(taken.requestPaid, true)
end

function T.a_cost_says_which_models_are_not_in_it()
  local used = { input = 7, output = 0, cacheRead = 0, cacheWrite = 0 }
  local worked = { type = "childWorked", turnId = "t1", toolCallId = "c1", child = "abc123", model = "wise", rounds = 1, usage = used }
  local paid = { type = "requestPaid", turnId = "t1", usage = used }
  local begun = vim.tbl_extend("force", turn_started("t1", "hi"), { model = "first" })
  local state = folded({ begun, worked, worked, paid, turn_ended("t1", "end_turn") })
  local line = render.entry(state.entries[#state.entries]).lines[1]
  support.contains(line, "$0.500, not counting wise and first, whose price is unknown")
end

function T.a_call_that_is_made_again_keeps_its_place()
  local call = { type = "toolCallStarted", turnId = "t1", toolCallId = "c1", name = "x", kind = "read", title = "Reading", input = {}, locations = {} }
  local state = folded({ turn_started("t1", "hi"), call, turn_ended("t1", "interrupted"), turn_started("t2", ""), call })
  support.equal(kinds(state), { "user", "tool", "turn_end", "user" })
  support.equal(state.entries[2].status, "running")
end

function T.a_plan_is_a_text_of_steps_and_back()
  local plan = require("azimuth.plan")
  local steps = {
    { content = "Find it", status = "completed" },
    { content = "Mend it", status = "in_progress" },
    { content = "Test it", status = "pending" },
  }
  support.equal(plan.lines(steps), { "[x] Find it", "[>] Mend it", "[ ] Test it" })
  support.equal(plan.steps(plan.lines(steps)), steps)
  support.equal(plan.steps({ "  Tell them  ", "", "[X]  Find [it]" }), {
    { content = "Tell them", status = "pending" },
    { content = "Find [it]", status = "completed" },
  })
end

function T.a_plan_has_one_place_and_hides_the_calls_that_make_it()
  local call = { type = "toolCallStarted", turnId = "t1", toolCallId = "c1", name = "update_plan", kind = "think", title = "Planning", input = {}, locations = {} }
  local ended = { type = "toolCallEnded", turnId = "t1", result = { toolCallId = "c1", text = "Seen.", isError = false }, summary = "0 of 2 steps" }
  local function plan(status)
    local second = { content = "Mend\nit", status = "pending" }
    return { type = "planUpdated", turnId = "t1", entries = { { content = "Find it", status = status }, second } }
  end
  local state = folded({ turn_started("t1", "hi"), call, plan("in_progress"), ended, plan("completed") })
  support.equal(kinds(state), { "user", "plan" })
  support.equal(render.entry(state.entries[2]).lines, { "", "✓ Find it", "○ Mend it", "" })
end

function T.prompts_wait_until_they_are_taken()
  local queued = { type = "promptQueued", queueId = "q1", prompt = { { type = "text", text = "later" } } }
  local state = folded({ queued })
  support.equal(render.footer(state).lines, { "Waits, 1: later" })
  fold.apply(state, { seq = 2, at = 2, event = { type = "promptDequeued", queueId = "q1" } })
  support.equal(render.footer(state).lines, {})
end

function T.hunks_are_counted_until_they_are_decided()
  local function hunk(id)
    return { hunkId = id, toolCallIds = {}, startLine = 0, oldText = "a\n", newText = "b\n", state = "pending" }
  end
  local proposal = { proposalId = "p", revision = 1, uri = "file:///a", path = "a", change = "modify", hunks = { hunk("h1"), hunk("h2") } }
  local state = folded({ { type = "proposalChanged", proposal = proposal } })
  support.equal({ fold.pending(state) }, { 2, 0 })
  fold.apply(state, { seq = 2, at = 2, event = { type = "reviewDecided", proposalId = "p", hunkIds = { "h1" }, decision = "reject" } })
  support.equal({ fold.pending(state) }, { 1, 0 })
  fold.apply(state, { seq = 3, at = 3, event = { type = "reviewDecided", proposalId = "p", hunkIds = { "h2" }, decision = "accept" } })
  support.equal(state.proposals.p.hunks[2].state, "applying")
  fold.apply(state, {
    seq = 4,
    at = 4,
    event = { type = "editApplied", proposalId = "p", hunkIds = { "h2" }, uri = "file:///a", outcome = { type = "verified" } },
  })
  support.equal(state.proposals.p.hunks[2].state, "accepted")
  support.equal({ fold.pending(state) }, { 0, 0 })
end

function T.only_what_changed_gets_a_new_version()
  local state = folded({ turn_started("t1", "hi"), { type = "messageDelta", messageId = "m", text = "a" } })
  local before = state.entries[1].version
  fold.apply(state, { seq = 3, at = 3, event = { type = "messageDelta", messageId = "m", text = "b" } })
  support.equal(state.entries[1].version, before)
  support.equal(state.entries[2].version, 3)
end

function T.mentions_are_found_where_they_begin_a_word()
  support.equal(prompt.mentions("see @a/b.rs, (@c.rs:10) and @d.rs:3-7."), {
    { path = "a/b.rs" },
    { path = "c.rs", first = 10, last = 10 },
    { path = "d.rs", first = 3, last = 7 },
  })
  support.equal(prompt.mentions("mail me@example.org or @"), {})
  support.equal(prompt.mentions("@my file.txt:2 is it", { ["my file.txt"] = "file:///x" }), { { path = "my file.txt", first = 2, last = 2 } })
end

function T.a_mention_of_no_file_stays_text()
  local place = support.place({ ["a.txt"] = "x" })
  local blocks = prompt.blocks("@a.txt @gone.txt @a.txt @param", place.project)
  support.equal(#blocks, 2)
  support.equal(blocks[1], { type = "text", text = "@a.txt @gone.txt @a.txt @param" })
  support.equal(blocks[2], { type = "file", uri = vim.uri_from_fname(place.project .. "/a.txt") })
end

function T.an_open_fence_is_closed_and_a_closed_one_is_not()
  support.equal(render.open_fence({ "```lua", "x" }), "```")
  support.equal(render.open_fence({ "```lua", "x", "```" }), nil)
  support.equal(render.open_fence({ "````", "```", "x" }), "````")
  support.equal(render.open_fence({ "~~~", "```" }), "~~~")
  support.equal(render.open_fence({ "```not `a` fence" }), nil)
  local block = render.entry({ kind = "assistant", version = 1, at = 1, text = "```\nx", done = true })
  support.equal(block.lines, { "", "```", "x", "```", "" })
end

function T.nothing_in_a_result_can_leave_its_fence()
  local block = render.entry({
    kind = "tool",
    version = 1,
    at = 1,
    title = "Reading\n# fake header",
    status = "done",
    done = true,
    result = { toolCallId = "c", text = "```\n# You\n````\n", isError = false },
  })
  support.equal(block.lines, { "✓ Reading # fake header", "`````", "```", "# You", "````", "`````" })
  support.equal(block.fold, { first = 0, last = 5 })
end

function T.long_results_are_bounded_and_say_so()
  local lines = {}
  for at = 1, 100 do
    lines[at] = "line " .. at
  end
  local entry = { kind = "tool", version = 1, at = 1, title = "x", status = "done", done = true, result = { toolCallId = "c", text = table.concat(lines, "\n"), isError = false } }
  local block = render.entry(entry)
  support.equal(#block.lines, render.MAX_DETAIL + 4)
  support.equal(block.lines[#block.lines - 1], "… 60 more lines; <CR> shows all")
  support.equal(#render.tool_detail(entry), 102)
end

function T.every_line_of_every_entry_is_one_line_of_a_buffer()
  local function live(whole)
    local diff = live_diff.new()
    live_diff.add(diff, whole)
    return diff
  end
  local hostile = "a\nb\r\n\27[31m\0\226\128\174" .. ("y"):rep(5000)
  local entries = {
    { kind = "user", prompt = { { type = "text", text = hostile }, { type = "file", uri = "file:///x%0Ay" } }, how = "turn" },
    { kind = "assistant", text = hostile, done = true },
    { kind = "thinking", text = hostile, done = true },
    { kind = "thinking", text = hostile },
    { kind = "tool", title = hostile, summary = hostile, status = "failed", done = true, input = { command = hostile, [1] = 2 }, judged = hostile, result = { text = hostile, isError = true } },
    { kind = "permission", request = { permissionId = "p", title = hostile, detail = hostile, reason = hostile, options = { { optionId = "o", name = hostile, kind = "allow_always" } } } },
    { kind = "notice", severity = "warning", text = hostile },
    { kind = "command", command = hostile, text = hostile },
    { kind = "diff", path = hostile, diff = live("+" .. hostile) },
    { kind = "files", files = { { uri = "file:///x%0Ay", unknown = hostile } } },
    { kind = "restored", direction = "undo", turn_ids = { "t" }, files = { { path = hostile, outcome = { type = "left", reason = hostile } } } },
    { kind = "formatted", formatted = { uri = "file:///x%0Ay", by = hostile, added = 1, removed = 1 } },
    { kind = "turn_end", stop_reason = "error", error = hostile, usage = usage },
  }
  local bufnr = vim.api.nvim_create_buf(false, true)
  for _, entry in ipairs(entries) do
    local block = render.entry(entry)
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, block.lines)
    for _, line in ipairs(block.lines) do
      assert(#line < text.MAX_LINE + 100, entry.kind .. " has a long line")
    end
    for _, mark in ipairs(block.marks) do
      assert(block.lines[mark.row + 1], entry.kind .. " highlights a line it does not have")
      assert((mark.end_col or 0) <= #block.lines[mark.row + 1], entry.kind .. " highlights past a line's end")
    end
  end
end

function T.each_option_has_a_key_of_its_own()
  local function keys(...)
    local options = {}
    for _, kind in ipairs({ ... }) do
      table.insert(options, { optionId = kind, name = kind, kind = kind })
    end
    return vim.tbl_map(function(choice)
      return choice.key
    end, render.keys(options))
  end
  support.equal(keys("allow_once", "allow_always", "reject_once", "reject_always"), { "a", "A", "r", "R" })
  support.equal(keys("allow_once", "allow_once", "reject_once"), { "a", "2", "r" })
end

function T.offsets_are_counted_in_utf16()
  local said = "é𝄞x"
  support.equal(text.utf16_of_byte(said, 2), 1)
  support.equal(text.utf16_of_byte(said, 6), 3)
  support.equal(text.utf16_of_byte(said, 99), 4)
  support.equal(text.byte_of_utf16(said, 1), 2)
  support.equal(text.byte_of_utf16(said, 3), 6)
  support.equal(text.byte_of_utf16(said, 99), 7)
end

function T.a_cut_splits_no_character()
  support.equal(text.cut("aéb", 2), "a … (2 more bytes)")
  support.equal(text.one_line("  a \n b  "), "a b")
  support.equal(text.bar("100%{x}"), "100%%{x}")
end

function T.the_status_has_the_costs_of_the_session_of_today_and_of_all_time()
  local status = require("azimuth.status")
  local state = folded({ turn_started("t1", "hi"), turn_ended("t1") })
  local function spending(cost, unpriced)
    return { requests = 1, usage = usage, cost = cost, unpricedRequests = unpriced }
  end
  local sums = { day = "2027-01-15", today = spending(0.75, 0), total = spending(12, 1) }
  support.equal(status.detail(state, sums), {
    "Azimuth: ready",
    "Model: test/m",
    "Cost of this conversation: $0.500",
    "Cost of today (UTC), all conversations: $0.750",
    "Cost of all time: $12.00 and more",
  })
  support.equal(status.detail(nil, nil), { "Azimuth: no session" })
end

function T.the_next_model_is_one_of_the_last_ones_and_each_comes_once()
  local pick = require("azimuth.pick")
  local function model(id, available)
    return { id = id, available = available ~= false }
  end
  local models = { model("a/1"), model("a/2"), model("b/1"), model("b/2", false) }
  local function after(current, recent)
    local found = pick.model_after({ models = models, recent = recent }, current)
    return found and found.id
  end
  support.equal(after("a/1", { "b/1", "a/1", "b/2" }), "b/1")
  support.equal(after("b/1", { "a/1", "b/1", "b/2" }), "a/1")
  support.equal(after("b/1", { "b/1" }), nil)
  support.equal(after(nil, nil), nil)
  models = { model("a/1"), model("b/1"), { id = "scripted/tour", available = true, scripted = true } }
  support.equal(after("b/1", { "b/1", "a/1", "scripted/tour" }), "a/1")
  support.equal(after("a/1", { "a/1", "scripted/tour" }), nil)
  models = {}
  support.equal(after("a/1", nil), nil)
end

function T.amounts_of_money_are_written_as_the_server_writes_them()
  local file = vim.fs.dirname(vim.fs.dirname(support.plugin)) .. "/tests/amounts.json"
  local table_of_all = vim.json.decode(table.concat(vim.fn.readfile(file), "\n"))
  assert(#table_of_all > 0)
  for _, one in ipairs(table_of_all) do
    support.equal({ one[1], text.dollars(one[1]) }, one)
  end
end

function T.a_bar_that_is_too_narrow_loses_its_last_parts_and_no_key()
  local parts = { "%#AzimuthAsk#<C-c>%* cancels", "50%% full", "the rest" }
  support.equal(text.fit(parts, 40), " %#AzimuthAsk#<C-c>%* cancels · 50%% full · the rest ")
  support.equal(text.fit(parts, 26), " %#AzimuthAsk#<C-c>%* cancels · 50%% full ")
  support.equal(text.fit(parts, 5), " %#AzimuthAsk#<C-c>%* cancels ")
  support.equal(text.shortened("as it is", 8), "as it is")
  support.equal(text.shortened("wide 漢字 text", 9), "wide 漢…")
end

function T.a_context_that_fills_is_seen_before_it_is_full()
  local status = require("azimuth.status")
  for used, group in pairs({ [59] = "", [60] = "AzimuthWarning", [84] = "AzimuthWarning", [85] = "AzimuthFailed", [120] = "AzimuthFailed" }) do
    local percent, found = status.fill({ used = used, limit = 200, full = 100 })
    support.equal({ percent, found or "" }, { math.floor(used / 2 + 0.5), group })
    support.equal({ status.fill({ used = used, limit = 100 }) }, { used, found }, "earlier versions do not say when it is full")
  end
  support.equal(status.fill({ used = 5, limit = 0 }), nil)
  support.equal(status.fill(nil), nil)
end

return T
