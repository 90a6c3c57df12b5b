--- Decisions and comments on hunks, sent to the server. What comes of them are events.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local sources = require("azimuth.review.sources")

local M = {}

--- The longest wait for the edits of one session before those of the next one are made, in milliseconds.
local MAX_WAIT = 2000

---@param message string
---@param level? integer
function M.say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

--- Says why a request failed. Of a stale one the answer holds what is true now, and nothing was decided.
---@param session_id string
---@param err azimuth.Error
---@param what string What was asked for.
function M.failed(session_id, err, what)
  if err.code == protocol.error_codes.staleReview then
    local state = client.state(session_id)
    for _, proposal in ipairs(state and err.data and err.data.proposals or {}) do
      if not state.proposals[proposal.proposalId] then
        table.insert(state.proposal_order, proposal.proposalId)
      end
      state.proposals[proposal.proposalId] = proposal
    end
    require("azimuth.review").refresh()
    M.say(("%s: the proposal has changed. Nothing was decided; look again."):format(what), vim.log.levels.WARN)
  elseif err.code == vim.lsp.protocol.ErrorCodes.MethodNotFound then
    M.say(("%s needs a newer server. `azimuth --version` says which you have."):format(what), vim.log.levels.ERROR)
  else
    M.say(("%s: %s"):format(what, err.message), vim.log.levels.ERROR)
  end
end

--- Goes on once the edits of a decision are in their documents, or cannot be. The answer to the decision comes before.
---@param params azimuth.ReviewDecideParams
---@param go_on fun()
---@return fun() finish Goes on at once.
local function once_applied(params, go_on)
  local expected, off, is_over = {}, nil, false
  for _, target in ipairs(params.targets) do
    local proposal = sources.now(target.proposalId)
    if proposal and (proposal.landed == true) == (params.decision == "reject") then
      expected[target.proposalId] = true
    end
  end
  local function finish()
    if not is_over then
      is_over = true
      off()
      go_on()
    end
  end
  off = client.on("editApplied", function(_, event)
    expected[event.proposalId] = nil
    if not next(expected) then
      finish()
    end
  end)
  vim.defer_fn(finish, next(expected) and MAX_WAIT or 0)
  return finish
end

--- Sends the decisions of some sessions, one after the other: edits of the same document would be in each other's way.
---@param requests azimuth.ReviewDecideParams[]
local function send_all(requests)
  local params = table.remove(requests, 1)
  local finish = #requests > 0 and once_applied(params, function()
    send_all(requests)
  end)
  client.request(protocol.requests.review_decide, params, function(err)
    if err then
      M.failed(params.sessionId, err, params.decision == "accept" and "accepting" or "rejecting")
    end
    if err and finish then
      finish()
    end
  end)
end

--- Decides hunks.
---@param decision azimuth.Decision
---@param targets azimuth.DecisionTarget[]
---@param message? string A word to the model.
function M.decide(decision, targets, message)
  local requests, by_session = {}, {}
  for _, target in ipairs(targets) do
    local session_id = sources.session_of(target.proposalId)
    local params = by_session[session_id or ""]
    if session_id and not params then
      params = { sessionId = session_id, decision = decision, targets = {} }
      params.message = message ~= "" and message or nil
      by_session[session_id] = params
      table.insert(requests, params)
    end
    if params then
      table.insert(params.targets, target)
    end
  end
  if #requests > 0 then
    send_all(requests)
  end
end

--- Decides hunks after asking why.
---@param decision azimuth.Decision
---@param targets azimuth.DecisionTarget[]
---@param prompt string
function M.ask_and_decide(decision, targets, prompt)
  if #targets == 0 then
    return
  end
  vim.ui.input({ prompt = prompt }, function(reason)
    if reason then
      M.decide(decision, targets, reason)
    end
  end)
end

--- Says something of hunks to the model. Nothing is decided by it.
---@param chosen { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]
---@param text string Where it is empty, the user is asked.
function M.comment(chosen, text)
  if #chosen == 0 then
    return
  end
  local function send(said)
    if vim.trim(said or "") == "" then
      return
    end
    for at, one in ipairs(chosen) do
      local proposal_id = one.proposal.proposalId
      local session_id = sources.session_of(proposal_id)
      local params = { sessionId = session_id, proposalId = proposal_id, hunkId = one.hunk.hunkId, text = said }
      client.request(protocol.requests.review_comment, params, function(err)
        if err then
          M.failed(session_id, err, "commenting")
        elseif at == #chosen then
          M.say("the model gets it with its next request. Nothing is decided yet.")
        end
      end)
    end
  end
  if text == "" then
    vim.ui.input({ prompt = "Comment: " }, send)
  else
    send(text)
  end
end

--- The targets of some hunks, a proposal each.
---@param chosen { proposal: azimuth.Proposal, hunk: azimuth.Hunk }[]
---@return azimuth.DecisionTarget[]
function M.targets(chosen)
  local by_proposal, targets = {}, {}
  for _, one in ipairs(chosen) do
    local id = one.proposal.proposalId
    if not by_proposal[id] then
      by_proposal[id] = { proposalId = id, revision = one.proposal.revision, hunkIds = {} }
      table.insert(targets, by_proposal[id])
    end
    table.insert(by_proposal[id].hunkIds, one.hunk.hunkId)
  end
  return targets
end

--- The targets of whole proposals.
---@param proposals azimuth.Proposal[]
---@return azimuth.DecisionTarget[]
function M.whole(proposals)
  return vim.tbl_map(function(proposal)
    return { proposalId = proposal.proposalId, revision = proposal.revision }
  end, proposals)
end

return M
