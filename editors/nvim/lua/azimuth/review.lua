--- Review: the open hunks of the current session and of those kept beside it, shown in their documents, and the commands
--- that decide them and that say something of them.
---
--- The shown hunks are a fold of the sessions' events. A decision goes to the server; an accepted hunk comes back from it
--- as an edit of the document. Closing any view decides nothing.

local apply = require("azimuth.review.apply")
local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local decide = require("azimuth.review.decide")
local diff = require("azimuth.review.diff")
local documents = require("azimuth.review.documents")
local hunks = require("azimuth.review.hunks")
local keys = require("azimuth.review.keys")
local list = require("azimuth.review.list")
local marks = require("azimuth.review.marks")
local sources = require("azimuth.review.sources")
local text = require("azimuth.text")

require("azimuth.review.highlights")

local M = {}

local say = decide.say

local proposals = sources.proposals

-- Showing -----------------------------------------------------------------------------------------------------------

--- Shows what is open now, in every document that is loaded.
function M.refresh()
  local open = proposals()
  local by_buffer = {}
  for _, bufnr in ipairs(marks.buffers()) do
    by_buffer[bufnr] = {}
  end
  for _, proposal in ipairs(open) do
    local bufnr = documents.buffer(proposal.uri)
    if bufnr then
      by_buffer[bufnr] = by_buffer[bufnr] or {}
      table.insert(by_buffer[bufnr], proposal)
    end
  end
  for bufnr, of_buffer in pairs(by_buffer) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      marks.show(bufnr, of_buffer)
    else
      marks.forget(bufnr)
      keys.unmap(bufnr)
    end
  end
  if #open == 0 then
    marks.repaint()
  end
  list.refresh(open)
end

local due = false
local diff_due = false

--- Refreshes once, after all that happens now.
---@param with_diff? boolean
local function refresh_soon(with_diff)
  diff_due = diff_due or with_diff == true
  if due then
    return
  end
  due = true
  vim.schedule(function()
    due = false
    M.refresh()
    if diff_due then
      diff_due = false
      diff.refresh()
    end
  end)
end

for _, type in ipairs({ "proposalChanged", "reviewDecided", "editApplied", "sessionOpened", "sessionSelected" }) do
  client.on(type, function(session_id)
    if sources.is_one(session_id) or type == "sessionSelected" then
      refresh_soon(true)
    end
  end)
end
client.on("connection", function(_, event)
  if event.state == "ready" then
    apply.install()
    refresh_soon(true)
  end
end)

local group = vim.api.nvim_create_augroup("azimuth.review", { clear = true })
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufWinEnter" }, {
  group = group,
  callback = function()
    refresh_soon()
  end,
})
vim.api.nvim_create_autocmd({ "WinResized", "VimResized" }, {
  group = group,
  callback = function()
    if #marks.buffers() > 0 then
      refresh_soon()
    end
  end,
})
vim.api.nvim_create_autocmd("FileType", { group = group, callback = marks.repaint })
vim.api.nvim_create_autocmd("BufUnload", {
  group = group,
  callback = function(args)
    marks.forget(args.buf)
  end,
})

-- Moving ------------------------------------------------------------------------------------------------------------

--- Goes to a hunk of the current buffer, so that what it adds can be seen too.
---@param place { row: integer, last: integer, item: azimuth.review.Shown }
local function go(place)
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { place.row + 1, 0 })
  vim.cmd("silent! normal! zv")
  local wanted = place.last - place.row + #hunks.lines(place.item.hunk.newText) + 1
  if vim.fn.winline() + wanted > vim.api.nvim_win_get_height(0) then
    vim.cmd(wanted > vim.api.nvim_win_get_height(0) / 2 and "normal! zt" or "normal! zz")
  end
  local above = place.item.proposal.landed and place.item.height > 0 or place.row == 0 and place.item.height == 0
  if above and vim.fn.line("w0") == place.row + 1 then
    vim.fn.winrestview({ topline = place.row + 1, topfill = #hunks.lines(place.item.hunk.newText) })
  end
end

--- Opens a proposal's document, at its first hunk or its last one.
---@param proposal azimuth.Proposal
---@param at_end? boolean
local function open(proposal, at_end)
  if diff.is_alone(proposal) then
    diff.open(sources.session_of(proposal.proposalId), proposal)
    return
  end
  local bufnr = documents.show(proposal.uri)
  M.refresh()
  local places = vim.tbl_filter(function(place)
    return place.item.proposal.proposalId == proposal.proposalId
  end, marks.list(bufnr))
  local place = places[at_end and #places or 1]
  if place then
    go(place)
  end
end

--- The place of the current buffer's proposal in a list of them.
---@param open_ones azimuth.Proposal[]
---@return integer?
local function index_here(open_ones)
  local here = vim.api.nvim_get_current_buf()
  local viewed = diff.proposal(here)
  for at, proposal in ipairs(open_ones) do
    if proposal == viewed or documents.buffer(proposal.uri) == here then
      return at
    end
  end
end

--- Goes to the next hunk, or with -1 to the one before; after a file's last one, into the next file.
---@param step 1|-1
local function move(step)
  if vim.wo.diff then
    vim.cmd("silent! normal! " .. (step == 1 and "]c" or "[c"))
    return
  end
  local open_ones = proposals()
  if #open_ones == 0 then
    say("no hunk waits for review.")
    return
  end
  local places = marks.list(vim.api.nvim_get_current_buf())
  local row = vim.api.nvim_win_get_cursor(0)[1] - 1
  local from, to = 1, #places
  if step == -1 then
    from, to = #places, 1
  end
  for at = from, to, step do
    if (places[at].row - row) * step > 0 then
      go(places[at])
      return
    end
  end
  local here = index_here(open_ones)
  local next_one = here and (here - 1 + step) % #open_ones + 1 or 1
  open(open_ones[next_one], step == -1)
end

-- Deciding ----------------------------------------------------------------------------------------------------------

--- The proposals of the current buffer.
---@return azimuth.Proposal[]
local function proposals_here()
  local bufnr = vim.api.nvim_get_current_buf()
  local shown = diff.proposal(bufnr)
  if shown then
    return { shown }
  end
  return vim.tbl_filter(function(proposal)
    return documents.buffer(proposal.uri) == bufnr
  end, proposals())
end

---@param first integer From 0.
---@param last integer
---@param landed? boolean Which kind; without it, both.
---@return { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]
local function hunks_at(first, last, landed)
  local bufnr = vim.api.nvim_get_current_buf()
  local found = diff.at(bufnr, first, last) or marks.at(bufnr, first, last)
  return landed == nil and found or hunks.of_kind(found, landed --[[@as boolean]])
end

--- The nearest hunk in the changed lines around the cursor of a diff. Neovim compares texts in its own way, so that lines
--- it shows as changed can lie beside those that the server means.
---@param row integer From 0.
---@param landed? boolean Which kind; without it, both.
---@return { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]
local function hunks_near(row, landed)
  local top, bottom = row, row
  while vim.fn.diff_hlID(top + 1, 1) ~= 0 and top > 0 do
    top = top - 1
  end
  while vim.fn.diff_hlID(bottom + 1, 1) ~= 0 and bottom < vim.fn.line("$") - 1 do
    bottom = bottom + 1
  end
  for distance = 1, math.max(row - top, bottom - row) do
    for _, at in ipairs({ row - distance, row + distance }) do
      local found = at >= top and at <= bottom and hunks_at(at, at, landed) or {}
      if #found > 0 then
        return found
      end
    end
  end
  return {}
end

--- The hunks that a command means: those at the cursor, or in its range. They are of one kind.
---@param words table
---@param landed? boolean Which kind; without it, that of the side-by-side view, else what waits if any does.
---@return { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]
local function hunks_meant(words, landed)
  if landed == nil then
    landed = diff.landed_here()
  end
  local cursor = vim.api.nvim_win_get_cursor(0)[1] - 1
  local first, last = cursor, cursor
  if words.first then
    first, last = words.first - 1, words.last - 1
  end
  local found = hunks_at(first, last, landed)
  if #found == 0 and not words.first and vim.wo.diff then
    found = hunks_near(cursor, landed)
  end
  if #found == 0 and not (diff.proposal(vim.api.nvim_get_current_buf()) and vim.bo.modified) then
    local which = landed and "no hunk that is in the file already is here." or "no hunk is here."
    say(which .. " :Azimuth next goes to the next one.")
  end
  local meant = hunks.one_kind(found)
  if #meant < #found then
    say("only what is proposed here is meant. For what is already in the file, use :Azimuth keep and :Azimuth back.")
  end
  return meant
end

--- Says that nothing is there to be decided, and what there would be of the other kind.
---@param landed boolean Which kind there is none of.
---@param others azimuth.Proposal[]
local function say_nothing_waits(landed, others)
  local words = landed and "there is nothing to keep or take back there." or "there is no hunk to accept or reject there."
  if #others > 0 then
    words = words
      .. (landed and " For what is proposed, use :Azimuth accept and :Azimuth reject." or " For what is already in its file, use :Azimuth keep and :Azimuth back.")
  end
  say(words)
end

---@class azimuth.review.Word
---@field decision azimuth.Decision
---@field landed boolean Whether whole files are decided of what has landed, or of what is proposed.
---@field prompt string What asks for the reason.

---@type table<string, azimuth.review.Word>
local decisions = {
  accept = { decision = "accept", landed = false, prompt = "Accept, and say: " },
  reject = { decision = "reject", landed = false, prompt = "Reject, because: " },
  keep = { decision = "accept", landed = true, prompt = "Keep, and say: " },
  back = { decision = "reject", landed = true, prompt = "Take back, because: " },
}

--- Sends the targets of whole proposals of the kind that a word means.
---@param word azimuth.review.Word
---@param open_ones azimuth.Proposal[]
---@param send fun(targets: azimuth.DecisionTarget[])
local function whole(word, open_ones, send)
  local meant = hunks.of_kind(open_ones, word.landed)
  if #meant == 0 then
    say_nothing_waits(word.landed, open_ones)
  else
    send(decide.whole(meant))
  end
end

--- The scopes of a decision. Each sends the targets, if there are any.
---@type table<string, fun(word: azimuth.review.Word, words: table, send: fun(targets: azimuth.DecisionTarget[]))>
local targets = {
  hunk = function(word, words, send)
    -- Only hunks at the cursor can be meant by either word.
    local meant = hunks_meant(words, word.landed or nil)
    local able = vim.tbl_filter(function(one)
      return one.hunk.state ~= "conflicted" or (word.decision == "accept") == (one.proposal.landed == true)
    end, meant)
    if #able < #meant then
      local why = word.decision == "accept" and "a hunk in conflict cannot be accepted: the text under it has changed. Reject it, or ask again."
        or "a hunk in conflict cannot be taken back: the text has changed since. Keep it, or change it yourself."
      say(why, vim.log.levels.WARN)
    end
    send(decide.targets(able))
  end,
  file = function(word, _, send)
    whole(word, proposals_here(), send)
  end,
  all = function(word, _, send)
    local open_ones = proposals()
    local able, writes, deletes = hunks.to_take_back(open_ones)
    if word ~= decisions.back or #able == 0 then
      whole(word, open_ones, send)
      return
    end
    -- A file that is not open has no undo of its own.
    local parts = {}
    table.insert(parts, writes > 0 and "writes " .. text.plural(writes, "file") or nil)
    table.insert(parts, deletes > 0 and "deletes " .. text.plural(deletes, "file") or nil)
    vim.ui.select({ "Leave it", "Take it back" }, {
      prompt = ("Azimuth: take back all that commands changed? That %s."):format(table.concat(parts, " and ")),
    }, function(choice)
      if choice == "Take it back" then
        send(decide.whole(able))
      end
    end)
  end,
}

---@param words table
local function decision(words)
  local word, what, from = decisions[words[1]], "hunk", 2
  if targets[words[2]] then
    what, from = words[2], 3
  end
  targets[what](word, words, function(chosen)
    if words.bang then
      decide.ask_and_decide(word.decision, chosen, word.prompt)
    else
      decide.decide(word.decision, chosen, table.concat(vim.list_slice(words, from), " "))
    end
  end)
end

-- Commands ----------------------------------------------------------------------------------------------------------

---@type table<string, fun(words: table)>
local commands = { accept = decision, reject = decision, keep = decision, back = decision }

function commands.comment(words)
  decide.comment(hunks_meant(words), table.concat(vim.list_slice(words, 2), " "))
end

function commands.next()
  move(1)
end

function commands.prev()
  move(-1)
end

function commands.hunks()
  if #proposals() == 0 then
    say("no hunk waits for review.")
    return
  end
  list.quickfix(proposals())
end

commands.quickfix = commands.hunks

function commands.list()
  if #proposals() == 0 then
    say("no hunk waits for review.")
    return
  end
  list.pick(proposals(), open)
end

function commands.diff()
  local open_ones = proposals_here()
  if #open_ones == 0 then
    open_ones = proposals()
  end
  local function show(proposal)
    diff.open(sources.session_of(proposal.proposalId), proposal)
  end
  if #open_ones == 0 then
    say("no hunk waits for review.")
  elseif #open_ones == 1 then
    show(open_ones[1])
  else
    list.pick(open_ones, show)
  end
end

function commands.auto(words)
  local session_id = client.session()
  local state = client.state()
  local scope, on = "session", nil
  for at = 2, #words do
    if words[at] == "project" then
      scope = "project"
    elseif words[at] == "on" or words[at] == "off" then
      on = words[at] == "on"
    else
      say(("it is :Azimuth auto [on|off] [project], not %q."):format(words[at]), vim.log.levels.ERROR)
      return
    end
  end
  if on == nil then
    on = not (state and state.accept_edits and (scope == "session" or state.accept_scope == "project"))
  end
  local params = { sessionId = session_id, on = on, scope = scope == "project" and scope or nil }
  client.request(protocol.requests.review_auto, params, function(err)
    if err then
      decide.failed(session_id, err, "accepting edits automatically")
      return
    end
    local where = scope == "project" and " in every session of this project" or ""
    say((on and "edits are accepted automatically%s. They stay listed and can be undone." or "edits wait for your review%s."):format(where))
  end)
end

function commands.review(words)
  local sub = words[2]
  if sub then
    if not commands[sub] then
      say(("there is no :Azimuth review %s."):format(sub), vim.log.levels.ERROR)
      return
    end
    local rest = vim.list_slice(words, 2)
    rest.first, rest.last, rest.bang = words.first, words.last, words.bang
    commands[sub](rest)
    return
  end
  local open_ones = proposals()
  if #open_ones == 0 then
    say("no hunk waits for review.")
    return
  end
  local here = index_here(open_ones)
  open(open_ones[(here or 0) % #open_ones + 1])
end

--- Runs a subcommand of `:Azimuth`: `review`, `accept`, `reject`, `keep`, `back`, `comment`, `next`, `prev`, `diff`, `hunks`
--- or `auto`.
---@param words table The words, and in fields `first`, `last` and `bang` what came with them.
function M.command(words)
  if client.session() or (words[1] ~= "auto" and #proposals() > 0) then
    commands[words[1]](words)
    return
  end
  client.ensure_session(function(err)
    if err then
      say(err.message, vim.log.levels.ERROR)
      return
    end
    commands[words[1]](words)
  end)
end

apply.install()
refresh_soon(true)

return M
