--- "Change this": a selection and an instruction become hunks, which are reviewed as those of the chat are.
---
--- Each instruction has a session of its own, which is kept beside the chat's until all of its hunks are decided and
--- another instruction begins, or its buffer goes. Until then a further instruction at the same lines refines what it
--- has proposed.

local arriving = require("azimuth.change.arriving")
local client = require("azimuth.client")
local diagnostics = require("azimuth.lang.diagnostics")
local documents = require("azimuth.review.documents")
local instructions = require("azimuth.change.instructions")
local marks = require("azimuth.review.marks")
local prompt = require("azimuth.change.prompt")
local protocol = require("azimuth.generated.protocol")
local selections = require("azimuth.change.selection")
local text = require("azimuth.text")

local M = {}

--- The most selections of an instruction.
local MAX_SELECTIONS = 100
--- The shortest time between two drawings, in milliseconds.
local FRAME = 30
--- So long the drawn edits of a message that is complete wait for the hunks that replace them, in milliseconds: lines
--- that went and came again would flicker.
local HANDOVER = 100

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

-- Following ---------------------------------------------------------------------------------------------------------

--- Shows what the model said, in one line or in a window at the cursor that goes when the cursor moves.
---@param said string
local function show_answer(said)
  local lines = text.lines(vim.trim(said))
  if #lines == 1 and vim.fn.strdisplaywidth(lines[1]) < vim.o.columns - 12 then
    say(vim.fn.strtrans(lines[1]))
    return
  end
  local height = math.floor(vim.o.lines / 2)
  vim.lsp.util.open_floating_preview(lines, "markdown", {
    border = "rounded",
    max_width = 76,
    max_height = height,
    focus_id = "azimuth.change",
  })
end

--- Tells the user of hunks in other files, which they do not see.
---@param instruction azimuth.change.Instruction
local function tell_of_others(instruction)
  local elsewhere = {}
  for _, proposal in ipairs(instructions.open_proposals(instruction)) do
    if documents.buffer(proposal.uri) ~= instruction.selection.bufnr then
      table.insert(elsewhere, vim.fn.strtrans(proposal.path))
    end
  end
  if #elsewhere > 0 then
    local key = require("azimuth.mappings").shown("review")
    say(("there are hunks in %s, too. %s goes there."):format(table.concat(elsewhere, ", "), key))
  end
end

---@param instruction azimuth.change.Instruction
---@param state azimuth.State
---@return boolean
local function has_proposed(instruction, state)
  return vim.iter(state.proposals):any(function(id, proposal)
    return instruction.before[id] ~= proposal.revision
  end)
end

--- Says what became of a turn, if it is not on the screen.
---@param instruction azimuth.change.Instruction
---@param state azimuth.State
---@param ending azimuth.Entry
---@param turn_id azimuth.TurnId
local function tell_ending(instruction, state, ending, turn_id)
  if ending.stop_reason == "cancelled" then
    say("the change is cancelled.")
  elseif ending.error or ending.stop_reason == "error" then
    say("the change failed: " .. (ending.error or "the model's server does not say why"), vim.log.levels.ERROR)
  elseif ending.stop_reason ~= "end_turn" then
    say(("the change ended early: %s."):format((ending.stop_reason:gsub("_", " "))), vim.log.levels.WARN)
  elseif has_proposed(instruction, state) then
    tell_of_others(instruction)
  else
    for at = #state.entries, 1, -1 do
      local entry = state.entries[at]
      if entry and entry.kind == "assistant" and entry.turn_id == turn_id then
        show_answer(entry.text)
        return
      end
    end
    say("the model has proposed nothing.")
  end
end

--- Ends what shows that the turn runs, once it has ended.
---@param instruction azimuth.change.Instruction
local function note_ending(instruction)
  local state, turn_id = instructions.state_of(instruction), instruction.turn_id
  for at = turn_id and state and #state.entries or 0, 1, -1 do
    local entry = state.entries[at]
    if entry and entry.kind == "turn_end" and entry.turn_id == turn_id then
      instruction.turn_id = nil
      instructions.hide(instruction)
      tell_ending(instruction, state, entry, turn_id)
      if not vim.api.nvim_buf_is_loaded(instruction.selection.bufnr) then
        instructions.drop_decided(function(one)
          return one == instruction
        end)
      end
      return
    end
  end
end

local due, drawn_at = false, 0

local function draw()
  due, drawn_at = false, vim.uv.now()
  for _, instruction in ipairs(instructions.list()) do
    instructions.show(instruction)
  end
end

--- Draws soon: at once if nothing was drawn lately, else with what comes until then.
local function draw_soon()
  if not due then
    due = true
    vim.defer_fn(draw, math.max(0, FRAME - (vim.uv.now() - drawn_at)))
  end
end

--- Follows the edits of a session that arrive. They are the first to tell of a session whose request is not answered
--- yet; those of the chat are drawn there.
---@param session_id string
---@param event table
local function follow_edits(session_id, event)
  if session_id ~= client.session() or arriving.any(session_id) then
    arriving.take(session_id, event)
  end
  if not arriving.any(session_id) then
    return
  elseif event.type == "messageCompleted" then
    vim.defer_fn(function()
      arriving.forget(session_id, event.messageId)
      draw_soon()
    end, HANDOVER)
  elseif event.type == "proposalChanged" then
    arriving.forget(session_id)
    -- With the review's own drawing, which is scheduled, too.
    vim.schedule(draw)
  end
end

---@param session_id string?
---@param event table
local function follow(session_id, event)
  if session_id then
    follow_edits(session_id, event)
  elseif event.type == "connection" and event.state ~= "ready" then
    -- Nobody writes on. The sign stays until the server, started again, says how the turn has ended.
    arriving.forget_all()
    draw_soon()
  end
  for _, instruction in ipairs(instructions.list()) do
    if session_id and instruction.session_id == session_id then
      if event.type == "turnEnded" or event.type == "sessionOpened" then
        note_ending(instruction)
      elseif event.type == "reviewDecided" and not vim.api.nvim_buf_is_loaded(instruction.selection.bufnr) then
        instructions.drop_decided(function(one)
          return one == instruction
        end)
      end
      draw_soon()
      return
    end
  end
end

-- Sending -----------------------------------------------------------------------------------------------------------

--- Runs a task once the server is ready.
---@param task fun(server?: vim.lsp.Client) Gets nil if the server could not be started, which the user has been told.
local function when_ready(task)
  local server = client.lsp_client()
  if server then
    task(server)
    return
  end
  local off
  off = client.on("connection", function(_, event)
    off()
    task(event.state == "ready" and client.lsp_client() or nil)
  end)
  client.start()
end

--- Takes the server's answer: the turn runs, and may have ended already.
---@param instruction azimuth.change.Instruction
---@param result azimuth.InlineInstructResult
local function take(instruction, result)
  client.keep(result.sessionId)
  instruction.session_id, instruction.turn_id = result.sessionId, result.turnId
  instructions.keep(instruction)
  require("azimuth.review").refresh()
  note_ending(instruction)
  draw_soon()
end

--- Notes that an instruction could not be sent. The words are there again in the next prompt.
---@param instruction azimuth.change.Instruction
---@param words string
---@param why? string
local function fail(instruction, words, why)
  prompt.keep(words)
  if why then
    say(why, vim.log.levels.ERROR)
  end
  if not instruction.session_id then
    instructions.drop(instruction)
  end
end

---@param instruction azimuth.change.Instruction A new one, or one to refine.
---@param words string
local function send(instruction, words)
  local selection, bufnr = instruction.selection, instruction.selection.bufnr
  instruction.is_sent, instruction.before = true, {}
  for id, proposal in pairs((instructions.state_of(instruction) or {}).proposals or {}) do
    instruction.before[id] = proposal.revision
  end
  when_ready(function(server)
    if not server or not vim.api.nvim_buf_is_loaded(bufnr) then
      instruction.is_sent = false
      fail(instruction, words)
      return
    end
    client.attach(bufnr)
    client.request(protocol.requests.inline_instruct, {
      textDocument = { uri = vim.uri_from_bufnr(bufnr), version = diagnostics.version(server.id, bufnr) },
      selections = selections.ranges(selection, server.offset_encoding or "utf-16"),
      instruction = words,
      sessionId = instruction.session_id,
    }, function(err, result)
      instruction.is_sent = false
      if err then
        fail(instruction, words, err.message)
      else
        take(instruction, result)
      end
    end)
  end)
end

--- The instruction whose hunks or lines are at a selection, the last one first.
---@param selection azimuth.change.Selection
---@return azimuth.change.Instruction?
local function instruction_at(selection)
  local first, last = selections.rows(selection)
  local here = {}
  for _, item in ipairs(marks.at(selection.bufnr, first, last)) do
    here[item.proposal.proposalId] = true
  end
  for _, one in vim.iter(instructions.list()):rev():enumerate() do
    local state = one.selection.bufnr == selection.bufnr and instructions.state_of(one)
    local is_of_hunk = state and vim.iter(here):any(function(id)
      return state.proposals[id] ~= nil
    end)
    local is_of_lines = state and selections.touches(one.selection, first, last)
    if is_of_hunk or is_of_lines then
      return one
    end
  end
end

---@param selection azimuth.change.Selection
---@return string? problem Why nothing of it can be sent.
local function problem_of(selection)
  if not client.is_document(selection.bufnr) then
    return "this buffer is no file, so it cannot be changed. Give it a name with :file or :write."
  elseif #selection.marks == 0 then
    return "nothing is selected."
  elseif #selection.marks > MAX_SELECTIONS then
    return ("%d selections are too many; at most %d are possible."):format(#selection.marks, MAX_SELECTIONS)
  end
end

--- Begins a new instruction, or refines one.
---@param selection azimuth.change.Selection
---@param refined? azimuth.change.Instruction
---@param words string
local function begin(selection, refined, words)
  instructions.drop_decided(function(one)
    return one ~= refined
  end)
  if not refined then
    refined = instructions.add(selection)
  elseif selection ~= refined.selection then
    selections.forget(refined.selection)
    refined.selection = selection
  end
  send(refined, words)
end

---@param instruction azimuth.change.Instruction
---@param words string Further words, which go into the chat's input.
local function hand_over(instruction, words)
  local session_id = instruction.session_id --[[@as string]]
  client.request(protocol.requests.session_promote, { sessionId = session_id }, function(err)
    if err then
      prompt.keep(words)
      say(err.message, vim.log.levels.ERROR)
      return
    end
    client.open_session(session_id, function(open_err)
      if open_err then
        say(open_err.message, vim.log.levels.ERROR)
        return
      end
      instructions.drop(instruction)
      local chat, input = require("azimuth.chat"), require("azimuth.input")
      chat.open()
      if words ~= "" then
        input.append(words)
      end
      chat.focus_input()
    end)
  end)
end

--- Asks for an instruction for a selection, or sends the words that are given.
---@param selection azimuth.change.Selection
---@param words string
---@param is_new boolean True to refine nothing.
local function ask(selection, words, is_new)
  local problem = problem_of(selection)
  if problem then
    say(problem, vim.log.levels.ERROR)
    selections.forget(selection)
    return
  end
  local refined = not is_new and instruction_at(selection) or nil
  if refined and (refined.is_sent or refined.turn_id) then
    selections.forget(selection)
    local key = require("azimuth.mappings").shown("cancel")
    say(("this is being changed already; %s cancels."):format(key), vim.log.levels.WARN)
    return
  elseif refined and selection.kind == "cursor" then
    selections.forget(selection)
    selection = refined.selection
  end
  if words ~= "" then
    begin(selection, refined, words)
    return
  end
  local first, last = selections.rows(selection)
  local verb = refined and "Refine the change of " or selection.kind == "cursor" and "Write at " or "Change "
  prompt.open({
    title = verb .. selections.words(selection),
    window = vim.api.nvim_get_current_win(),
    first = first,
    last = last,
    -- Of what is refined, the hunks are to be seen.
    spans = selection.kind ~= "whole" and not refined and selections.spans(selection) or {},
    send = function(said)
      begin(selection, refined, said)
    end,
    hand_over = refined and function(said)
      hand_over(refined, said)
    end,
  })
end

-- Commands ----------------------------------------------------------------------------------------------------------

--- Runs `:Azimuth change`: for its range, the selection, or the cursor.
---@param words table The words, and in fields `first`, `last` and `bang` what came with them.
function M.command(words)
  local bufnr = vim.api.nvim_get_current_buf()
  local selection = words.first and selections.lines(bufnr, words.first - 1, words.last - 1) or selections.here()
  if vim.fn.mode():find("^[vV\22]") then
    vim.cmd("normal! \27")
  end
  ask(selection, table.concat(words, " ", 2), words.bang == true)
end

--- Runs `:Azimuth promote`: goes on in the chat with the instruction at the cursor, or with the last one.
function M.promote()
  local here = selections.here()
  local instruction = instruction_at(here) or instructions.list()[#instructions.list()]
  selections.forget(here)
  if instruction and instruction.session_id then
    hand_over(instruction, "")
  else
    say("there is no change to go on with in the chat.")
  end
end

--- Cancels the change that is being written in the current buffer, or elsewhere if the chat's turn does not run.
---@return boolean done False if there is none.
function M.cancel()
  local bufnr, state = vim.api.nvim_get_current_buf(), client.state()
  for _, one in vim.iter(instructions.list()):rev():enumerate() do
    if one.turn_id and (one.selection.bufnr == bufnr or not (state and state.running)) then
      client.request(protocol.requests.turn_cancel, { sessionId = one.session_id, turnId = one.turn_id })
      return true
    end
  end
  return false
end

--- The session of the change at the cursor, if something of it was accepted.
---@return string?
function M.changed_here()
  local here = selections.here()
  local instruction = instruction_at(here)
  local state = instruction and instructions.state_of(instruction)
  selections.forget(here)
  local has_changed = state and vim.iter(state.entries):any(function(entry)
    return entry and entry.changes ~= nil and next(entry.changes) ~= nil
  end)
  return has_changed and instruction.session_id or nil
end

--- The number of changes that are being written.
---@return integer
function M.running()
  return #vim.tbl_filter(function(one)
    return one.turn_id ~= nil
  end, instructions.list())
end

client.on("*", follow)

-- The server offers it as a code action: see `azimuth.server`.
vim.lsp.commands["azimuth.change"] = function(command, context)
  local uri, range = unpack(command.arguments)
  local bufnr = vim.api.nvim_get_current_buf()
  local server = vim.lsp.get_client_by_id(context.client_id)
  if vim.uri_from_bufnr(bufnr) == uri and server then
    ask(selections.of_range(bufnr, range, server.offset_encoding or "utf-16"), "", false)
  end
end

local group = vim.api.nvim_create_augroup("azimuth.change", { clear = true })
-- The user may type into lines that would go, and lines that would come may be in the way.
vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP", "InsertEnter", "InsertLeave" }, {
  group = group,
  callback = function(args)
    local is_drawn = vim.iter(instructions.list()):any(function(one)
      return one.turn_id ~= nil and one.selection.bufnr == args.buf
    end)
    if is_drawn then
      draw_soon()
    end
  end,
})

return M
