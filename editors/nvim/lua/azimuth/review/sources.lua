--- The sessions whose hunks are reviewed: the current one, and those kept beside it.

local client = require("azimuth.client")
local hunks = require("azimuth.review.hunks")

local M = {}

---@return string[] ids The current session first.
local function sessions()
  return vim.list_extend({ client.session() }, client.kept())
end

--- True if the hunks of a session are reviewed.
---@param session_id string?
---@return boolean
function M.is_one(session_id)
  return session_id ~= nil and vim.tbl_contains(sessions(), session_id)
end

--- The proposals with open hunks.
---@return azimuth.Proposal[]
function M.proposals()
  local list = {}
  for _, session_id in ipairs(sessions()) do
    vim.list_extend(list, hunks.proposals(client.state(session_id)))
  end
  return list
end

--- The session of a proposal; of one that is in none of them, the current session.
---@param proposal_id azimuth.ProposalId
---@return string?
function M.session_of(proposal_id)
  for _, session_id in ipairs(sessions()) do
    local state = client.state(session_id)
    if state and state.proposals[proposal_id] then
      return session_id
    end
  end
  return client.session()
end

--- A proposal as it is now.
---@param proposal_id azimuth.ProposalId
---@return azimuth.Proposal?
function M.now(proposal_id)
  local session_id = M.session_of(proposal_id)
  local state = session_id and client.state(session_id)
  return state and state.proposals[proposal_id]
end

return M
