--- The state of a session as it is shown, a fold of its events (docs/protocol.md). Pure: no editor, no files, no clock.
---
--- `apply` changes the state in place, since a session has thousands of entries and an event touches one of them.
--- An entry that was touched gets a new `version`, so that a view can tell what to draw anew.

local entries = require("azimuth.fold.entries")
local files = require("azimuth.fold.files")
local handovers = require("azimuth.fold.handovers")
local live_diff = require("azimuth.live_diff")
local terminals = require("azimuth.fold.terminals")

local M = {}

---@class azimuth.Entry
---@field kind "user"|"assistant"|"thinking"|"diff"|"tool"|"ran"|"plan"|"permission"|"notice"|"command"|"files"|"formatted"|"restored"|"handover"|"turn_end"
---@field version integer Grows with each change.
---@field at integer When it happened, in milliseconds since the Unix epoch.
---@field id? string The message, tool call, question or command of the user's own it stands for.
---@field turn_id? azimuth.TurnId
---@field text? string
---@field done? boolean Whether nothing more comes.
---@field prompt? azimuth.PromptBlock[] Of a user's entry.
---@field how? "turn"|"steer"|"continue" How a user's words reached the model.
---@field mode? azimuth.Mode
---@field changes? table<string, azimuth.TurnChange> Of a user's entry that began a turn: what the turn made of files, by URI,
---without those that it has changed back itself.
---@field name? string Of a tool call: the tool.
---@field tool_kind? azimuth.ToolKind
---@field title? string Of a tool call: what it does.
---@field input? any
---@field locations? azimuth.Location[]
---@field summary? string
---@field result? azimuth.ToolResult
---@field status? "running"|"asking"|"done"|"failed"|"cancelled"
---@field duration_ms? integer
---@field judged? string Why a call was allowed or denied without asking.
---@field terminal_id? azimuth.TerminalId
---@field terminal? azimuth.TerminalInfo The terminal, while the call's command runs in it; of a job, also afterwards.
---@field typed? azimuth.Event.TerminalInput[] What was typed into the command, in order.
---@field in_context? boolean Of a command of the user's own: whether the model reads of it.
---@field exit_code? integer Of a command of the user's own that ended by itself.
---@field steps? azimuth.PlanEntry[] Of a plan.
---@field child? { session_id: azimuth.SessionId, model: string, rounds: integer, doing?: string } Of a tool call: the session
---that it started, and what that does.
---@field trimmed? boolean Whether the model no longer sees the result.
---@field request? azimuth.PermissionRequest Of a question.
---@field outcome? azimuth.PermissionOutcome Of a question that was answered.
---@field severity? azimuth.Severity|"told" Of a notice; `told` is what the model was told by the server.
---@field command? string
---@field is_error? boolean
---@field stop_reason? azimuth.StopReason
---@field error? string
---@field usage? azimuth.Usage
---@field cost? number
---@field unpriced? string[] Of a turn's end: the models of which it is said here that their price is not known.
---@field message_id? azimuth.MessageId Of the diff of an edit whose call still arrives.
---@field path? string
---@field diff? azimuth.LiveDiff
---@field files? azimuth.ChangedFile[]|azimuth.RestoredFile[] That a command changed, or an undo or redo was about.
---@field by_command? boolean Whether they changed while a command ran.
---@field direction? azimuth.Direction
---@field turn_ids? azimuth.TurnId[] Of an undo or redo, newest first.
---@field formatted? azimuth.Event.Formatted
---@field compaction? azimuth.Compaction Of a handover; `text` has its notes, and `how_changed` what the user did with it.
---@field how_changed? "corrected"|"taken_back"

---@class azimuth.TurnChange
---@field before? azimuth.FileImage Nil if there was no file.
---@field after? azimuth.FileImage Nil if there is none.
---@field undone boolean Whether it is taken back.

---@class azimuth.Queued
---@field id azimuth.QueueId
---@field prompt azimuth.PromptBlock[]

---@class azimuth.TerminalCommand
---@field terminal_id azimuth.TerminalId
---@field tool_call_id azimuth.ToolCallId
---@field command string
---@field cwd string
---@field offset integer
---@field ended? boolean
---@field exit_code? integer

---@class azimuth.Retrying
---@field attempt integer From 1.
---@field of? integer The number of retries that there may be.
---@field reason string
---@field until_ms? integer When it is tried again, in milliseconds since the Unix epoch; absent if it is tried now.

---@class azimuth.State
---@field version integer Grows with each change.
---@field seq integer The number of the last event.
---@field title string
---@field folders string[]
---@field model? string
---@field thinking? azimuth.ThinkingLevel The level at which the model thinks, if one was chosen.
---@field scripted boolean Whether the model plays a script.
---@field mode azimuth.Mode
---@field accept_edits boolean Whether edits are accepted automatically.
---@field accept_scope azimuth.AutoScope For how long; said with the last word on it.
---@field entries (azimuth.Entry|false)[] From first to last; `false` where a message was voided.
---@field running? azimuth.TurnId The turn that runs.
---@field retrying? azimuth.Retrying The request that is tried again.
---@field compacting boolean Whether a handover is being written.
---@field handovers azimuth.CompactionId[] The handovers that stand, the last one at the conversation's beginning.
---@field queue azimuth.Queued[]
---@field questions azimuth.PermissionRequest[] The open questions, the oldest first.
---@field proposals table<azimuth.ProposalId, azimuth.Proposal> All proposals as they are now.
---@field proposal_order azimuth.ProposalId[] In the order in which they appeared.
---@field terminals azimuth.TerminalCommand[] The commands that ran in terminals, in order.
---@field terminal_info table<azimuth.TerminalId, azimuth.TerminalInfo> The terminals as they are.
---@field terminal_order azimuth.TerminalId[] In the order in which they appeared.
---@field planning table<azimuth.ToolCallId, true> The calls that made plans.
---@field context? { used: integer, limit: integer, full?: integer }
---@field usage azimuth.Usage Tokens of all turns, and of the sessions that their calls started.
---@field cost number Cost of the same, as far as it is known.
---@field of_children { usage: azimuth.Usage, cost?: number } What such sessions used in the last turn.
---@field asked_unpriced string[] The models whose price is not known, of the requests of that turn and of such sessions.
---@field turn_model? string The model of the last turn. Another may be chosen for the next one.
---@field turn_thinking? azimuth.ThinkingLevel The level at which that one thinks, if one was chosen.
---@field unpriced table<string, true> The models of which it was said that their price is not known.
---@field index table<string, integer> Where an entry stands, by `kind:id`.

---@return { usage: azimuth.Usage, cost?: number }
local function nothing()
  return { usage = { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } }
end

--- The state of a session before its first event.
---@return azimuth.State
function M.new()
  return {
    version = 0,
    seq = 0,
    title = "",
    folders = {},
    model = nil,
    scripted = false,
    mode = "agent",
    accept_edits = false,
    accept_scope = "session",
    entries = {},
    running = nil,
    retrying = nil,
    compacting = false,
    handovers = {},
    queue = {},
    questions = {},
    proposals = {},
    proposal_order = {},
    terminals = {},
    terminal_info = {},
    terminal_order = {},
    planning = {},
    context = nil,
    usage = nothing().usage,
    cost = 0,
    of_children = nothing(),
    asked_unpriced = {},
    unpriced = {},
    index = {},
  }
end

local add, touch, void, retain = entries.add, entries.touch, entries.void, entries.retain

--- Voids the diffs of edits whose calls no longer arrive; what they came to stands elsewhere. They are the last entries.
---@param state azimuth.State
---@param message_id? string Without it, all of them.
local function void_diffs(state, message_id)
  for at = #state.entries, 1, -1 do
    local entry = state.entries[at]
    if entry and entry.kind == "diff" and (message_id == nil or entry.message_id == message_id) then
      void(state, "diff", entry.id)
    elseif entry and entry.kind == "user" and entry.how ~= "steer" then
      return
    end
  end
end

--- Counts what was used and what it cost, if that is known.
---@param sum { usage: azimuth.Usage, cost?: number }
---@param used { usage?: azimuth.Usage, cost?: number }
local function pay(sum, used)
  for name in pairs(sum.usage) do
    sum.usage[name] = sum.usage[name] + (used.usage and used.usage[name] or 0)
  end
  sum.cost = used.cost and (sum.cost or 0) + used.cost or sum.cost
end

--- Notes a model of the turn that used something, if its price is not known.
---@param state azimuth.State
---@param model? string
---@param told { usage?: azimuth.Usage, cost?: number }
local function asked(state, model, told)
  local used = 0
  for _, tokens in pairs(told.usage or {}) do
    used = used + tokens
  end
  if model and used > 0 and not told.cost and not vim.list_contains(state.asked_unpriced, model) then
    table.insert(state.asked_unpriced, model)
  end
end

--- The models that the turn asked, whose price is not known, where that was not said yet.
---@param state azimuth.State
---@param event azimuth.Event.TurnEnded
---@return string[]?
local function newly_unpriced(state, event)
  -- Where no request said more, the turn as a whole speaks for its last model.
  if #state.asked_unpriced == 0 then
    asked(state, state.turn_model, event)
  end
  local new = {}
  for _, model in ipairs(state.asked_unpriced) do
    if not state.unpriced[model] then
      state.unpriced[model] = true
      table.insert(new, model)
    end
  end
  return #new > 0 and new or nil
end

---@param state azimuth.State
---@param at integer
---@param kind "assistant"|"thinking"
---@param event { messageId: string, text: string }
local function stream(state, at, kind, event)
  state.retrying = nil
  local entry = touch(state, kind, event.messageId)
    or add(state, at, { kind = kind, id = event.messageId, text = "", turn_id = state.running })
  entry.text = entry.text .. event.text
end

--- Puts what a whole message says in place of what its deltas said.
---@param state azimuth.State
---@param at integer
---@param kind "assistant"|"thinking"
---@param event azimuth.Event.MessageCompleted
---@param text string
local function complete(state, at, kind, event, text)
  if text == "" then
    void(state, kind, event.messageId)
    return
  end
  local entry = touch(state, kind, event.messageId)
    or add(state, at, { kind = kind, id = event.messageId, turn_id = event.turnId })
  entry.text = text
  entry.done = true
end

--- The handlers of events, by kind. Others are passed over: those that nobody sees, and those that a later server may have.
---@type table<string, fun(state: azimuth.State, event: any, at: integer)>
M.on = vim.tbl_extend("error", {}, files.on, handovers.on, terminals.on)

local on = M.on

function on.sessionStarted(state, event)
  state.folders = event.folders or {}
end

function on.titleChanged(state, event)
  state.title = event.title
end

function on.modelChanged(state, event)
  state.model, state.scripted, state.thinking = event.model, event.scripted == true, event.thinking
end

function on.modeChanged(state, event)
  state.mode = event.mode
end

function on.acceptEditsChanged(state, event)
  state.accept_edits = event.on == true
  state.accept_scope = event.scope or "session"
end

function on.commandExecuted(state, event, at)
  add(state, at, { kind = "command", command = event.command, text = event.message, is_error = event.isError, done = true })
end

function on.turnStarted(state, event, at)
  state.running, state.retrying, state.turn_model = event.turnId, nil, event.model
  state.of_children, state.asked_unpriced = nothing(), {}
  state.mode = event.mode or state.mode
  -- It is taken for the session's own only where that is not known.
  if event.model ~= "" then
    state.model = state.model or event.model
  end
  state.turn_thinking = event.model == state.model and state.thinking or nil
  if event.compacts then
    return -- The command that asked for it stands there already.
  end
  local continues = #event.prompt == 0
  add(state, at, {
    kind = "user",
    id = event.turnId,
    how = continues and "continue" or "turn",
    prompt = event.prompt,
    turn_id = event.turnId,
    mode = event.mode,
    done = true,
  })
end

function on.steered(state, event, at)
  add(state, at, { kind = "user", how = "steer", prompt = event.prompt, turn_id = event.turnId, done = true })
end

function on.promptQueued(state, event)
  table.insert(state.queue, { id = event.queueId, prompt = event.prompt })
end

function on.promptDequeued(state, event)
  retain(state.queue, function(queued)
    return queued.id ~= event.queueId
  end)
end

function on.noted(state, event, at)
  add(state, at, { kind = "notice", severity = "told", text = event.text, turn_id = event.turnId, done = true })
end

function on.messageDelta(state, event, at)
  stream(state, at, "assistant", event)
end

function on.thinkingDelta(state, event, at)
  stream(state, at, "thinking", event)
end

--- A call may edit several files, each with a diff of its own.
function on.editDelta(state, event, at)
  state.retrying = nil
  local id = ("%s:%s:%s"):format(event.messageId, event.toolCallId, event.path)
  local entry = touch(state, "diff", id)
    or add(state, at, {
      kind = "diff",
      id = id,
      message_id = event.messageId,
      path = event.path,
      diff = live_diff.new(),
      turn_id = state.running,
    })
  live_diff.add(entry.diff, event.text)
end

function on.requestPaid(state, event)
  asked(state, state.turn_model, event)
end

function on.messageCompleted(state, event, at)
  state.retrying = nil
  asked(state, state.turn_model, event)
  void_diffs(state, event.messageId)
  local texts = { text = {}, thinking = {} }
  for _, block in ipairs(event.content) do
    if texts[block.type] then
      table.insert(texts[block.type], block.text)
    end
  end
  complete(state, at, "thinking", event, table.concat(texts.thinking, "\n\n"))
  complete(state, at, "assistant", event, table.concat(texts.text, "\n\n"))
end

function on.messageDiscarded(state, event)
  void_diffs(state, event.messageId)
  void(state, "assistant", event.messageId)
  void(state, "thinking", event.messageId)
end

function on.retrying(state, event, at)
  local until_ms = event.delayMs > 0 and at + event.delayMs or nil
  state.retrying = { attempt = event.attempt, of = event.of, reason = event.reason, until_ms = until_ms }
end

--- The session keeps its own model; the turn goes on with another.
function on.turnModelChanged(state, event, at)
  state.retrying = nil
  state.turn_model, state.turn_thinking = event.model, event.thinking
  add(state, at, { kind = "notice", severity = "warning", text = require("azimuth.fold.switch").words(event), done = true })
end

--- A turn has one plan, which changes in its place.
function on.planUpdated(state, event, at)
  local entry = touch(state, "plan", event.turnId)
    or add(state, at, { kind = "plan", id = event.turnId, turn_id = event.turnId, done = true })
  entry.steps = event.entries
end

function on.toolCallStarted(state, event, at)
  state.retrying = nil
  -- A plan shows itself.
  if event.name == "update_plan" then
    state.planning[event.toolCallId] = true
    return
  end
  -- A call that a crash cut off is made again, with the id it had.
  local entry = touch(state, "tool", event.toolCallId)
    or add(state, at, { kind = "tool", id = event.toolCallId, turn_id = event.turnId })
  entry.name = event.name
  entry.tool_kind = event.kind
  entry.title = event.title
  entry.input = event.input
  entry.locations = event.locations or {}
  entry.status = "running"
  entry.result = nil
  entry.done = false
end

function on.toolCallEnded(state, event, at)
  local id = event.result.toolCallId
  if state.planning[id] and not event.result.isError then
    return
  end
  -- A call that was refused before it began has an end only.
  local entry = touch(state, "tool", id)
    or add(state, at, { kind = "tool", id = id, turn_id = event.turnId, name = "", title = event.summary, locations = {} })
  entry.status = event.result.isError and "failed" or "done"
  entry.result = event.result
  entry.summary = event.summary
  entry.duration_ms = event.durationMs
  if event.locations and #event.locations > 0 then
    entry.locations = event.locations
  end
  entry.done = true
end

--- The cost counts also if it comes when the turn has ended, but for no other turn.
function on.childWorked(state, event)
  pay(state, event)
  if event.turnId == state.running then
    pay(state.of_children, event)
    asked(state, event.model, event)
  end
  local entry = touch(state, "tool", event.toolCallId)
  if entry then
    entry.child = { session_id = event.child, model = event.model, rounds = event.rounds, doing = event.doing }
  end
end

function on.permissionAsked(state, event, at)
  local request = event.request
  table.insert(state.questions, request)
  add(state, at, { kind = "permission", id = request.permissionId, request = request, turn_id = event.turnId })
  local call = request.toolCallId and touch(state, "tool", request.toolCallId)
  if call and not call.done then
    call.status = "asking"
  end
end

function on.permissionAnswered(state, event)
  retain(state.questions, function(request)
    return request.permissionId ~= event.permissionId
  end)
  local entry = touch(state, "permission", event.permissionId)
  if not entry then
    return
  end
  entry.outcome = event.outcome
  entry.done = true
  local id = entry.request.toolCallId
  local call = id and touch(state, "tool", id)
  if call and call.status == "asking" then
    call.status = "running"
  end
end

function on.permissionJudged(state, event)
  local entry = touch(state, "tool", event.toolCallId)
  if entry then
    entry.judged = event.reason
  end
end

function on.proposalChanged(state, event)
  local id = event.proposal.proposalId
  if not state.proposals[id] then
    table.insert(state.proposal_order, id)
  end
  state.proposals[id] = event.proposal
end

function on.contextTrimmed(state, event)
  for _, id in ipairs(event.toolCallIds) do
    local call = touch(state, "tool", id)
    if call then
      call.trimmed = true
    end
  end
end

function on.contextUsed(state, event)
  state.context = { used = event.used, limit = event.limit, full = event.full }
end

on.sideAsked = pay

function on.turnEnded(state, event, at)
  state.running, state.retrying, state.compacting = nil, nil, false
  void_diffs(state)
  -- Whatever the turn left open ends with it, from the turn's last entry back to its first.
  for place = #state.entries, 1, -1 do
    local entry = state.entries[place]
    if entry then
      -- A command of the user's own is no part of a turn.
      if not entry.done and entry.kind ~= "ran" and (entry.turn_id == event.turnId or entry.turn_id == nil) then
        entry.done = true
        entry.version = state.version
        if entry.kind == "tool" then
          entry.status = "cancelled"
        end
      end
      if entry.kind == "user" and entry.how ~= "steer" and entry.turn_id == event.turnId then
        break
      end
    end
  end
  local used = state.of_children
  state.of_children = nothing()
  pay(state, event)
  pay(used, event)
  add(state, at, {
    kind = "turn_end",
    turn_id = event.turnId,
    stop_reason = event.stopReason,
    error = event.error,
    usage = used.usage,
    cost = used.cost,
    unpriced = newly_unpriced(state, event),
    done = true,
  })
end

--- Takes one event in. Events come in order, each once; the caller sees to that.
---@param state azimuth.State
---@param sequenced { seq: integer, at: integer, event: azimuth.Event }
---@return azimuth.State
function M.apply(state, sequenced)
  state.version = state.version + 1
  state.seq = sequenced.seq
  local event, at = sequenced.event, sequenced.at or 0
  local take = on[event.type]
  if take then
    take(state, event, at)
  elseif event.severity and event.text then
    -- It says all in words, whatever its kind is, even one that only a later server knows.
    add(state, at, { kind = "notice", severity = event.severity, text = event.text, done = true })
  end
  return state
end

--- How many hunks wait for a decision, and how many are undecided that are in their documents already, for which nothing
--- waits.
---@param state azimuth.State
---@return integer hunks
---@return integer landed
function M.pending(state)
  local hunks, landed = 0, 0
  for _, id in ipairs(state.proposal_order) do
    local open = 0
    for _, hunk in ipairs(state.proposals[id].hunks) do
      if hunk.state == "pending" or hunk.state == "conflicted" then
        open = open + 1
      end
    end
    if state.proposals[id].landed then
      landed = landed + open
    else
      hunks = hunks + open
    end
  end
  return hunks, landed
end

--- The prompts of the user as text, the oldest first.
---@param state azimuth.State
---@return string[]
function M.prompts(state)
  local prompts = {}
  for _, entry in ipairs(state.entries) do
    if entry and entry.kind == "user" then
      for _, block in ipairs(entry.prompt) do
        if block.type == "text" and block.text ~= "" then
          table.insert(prompts, block.text)
        end
      end
    elseif entry and entry.kind == "command" then
      table.insert(prompts, entry.command)
    elseif entry and entry.kind == "ran" then
      table.insert(prompts, (entry.in_context and "!" or "!!") .. entry.command)
    end
  end
  return prompts
end

return M
