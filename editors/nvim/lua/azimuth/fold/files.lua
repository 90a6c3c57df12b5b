--- The part of the fold that is about files: what became of the edits that were proposed, and what else changed files. Pure.

local entries = require("azimuth.fold.entries")

local M = {}

--- The handlers of events, by kind; see `fold.lua`.
---@type table<string, fun(state: azimuth.State, event: any, at: integer)>
M.on = {}

local on = M.on
local add, touch = entries.add, entries.touch

---@param proposal azimuth.Proposal?
---@param ids string[]
---@param state_of_hunk azimuth.HunkState
local function mark(proposal, ids, state_of_hunk)
  if not proposal then
    return
  end
  for _, hunk in ipairs(proposal.hunks) do
    if vim.tbl_contains(ids, hunk.hunkId) then
      hunk.state = state_of_hunk
    end
  end
end

--- A landed hunk changes its document if it is taken back, and not if it is kept.
function on.reviewDecided(state, event)
  local proposal = state.proposals[event.proposalId]
  local accepts = event.decision == "accept"
  local changes = accepts ~= (proposal ~= nil and proposal.landed == true)
  mark(proposal, event.hunkIds, changes and "applying" or accepts and "accepted" or "rejected")
end

---@param one? azimuth.FileImage
---@param other? azimuth.FileImage
---@return boolean
local function is_same(one, other)
  if not one or not other then
    return one == other
  end
  -- Of a text that an editor has, no more than the text is known.
  local same_bytes = one.bytes == nil or other.bytes == nil or one.bytes == other.bytes
  return one.hash == other.hash and same_bytes and (one.executable or false) == (other.executable or false)
end

---@param hash? string Of a text.
---@return azimuth.FileImage?
local function image(hash)
  return hash and { hash = hash } or nil
end

--- A turn changed a file. What it has changed back is no change.
---@param state azimuth.State
---@param turn_id? azimuth.TurnId
---@param uri string
---@param before? azimuth.FileImage
---@param after? azimuth.FileImage
local function changed_by(state, turn_id, uri, before, after)
  local entry = turn_id and touch(state, "user", turn_id)
  if not entry then
    return
  end
  entry.changes = entry.changes or {}
  local known = entry.changes[uri]
  if known and not known.undone and is_same(known.after, before) then
    before = known.before
  end
  entry.changes[uri] = not is_same(before, after) and { before = before, after = after, undone = false } or nil
end

function on.editApplied(state, event, at)
  local kind = event.outcome.type
  local edited = state.proposals[event.proposalId]
  if kind == "verified" then
    mark(edited, event.hunkIds, edited and edited.landed and "rejected" or "accepted")
  elseif kind == "unverified" then
    mark(edited, event.hunkIds, "unverified")
  end
  if kind == "verified" or kind == "unverified" then
    changed_by(state, event.turnId, event.uri, event.deleted or image(event.before), image(event.after))
  elseif kind == "failed" then
    local path = edited and edited.path or event.uri
    add(state, at, {
      kind = "notice",
      severity = "error",
      text = ("The edit of %s could not be applied: %s"):format(path, event.outcome.reason or "no reason was given"),
      done = true,
    })
  end
end

function on.formatted(state, event, at)
  add(state, at, { kind = "formatted", formatted = event, turn_id = event.turnId, done = true })
  changed_by(state, event.turnId, event.uri, image(event.before), image(event.after))
end

function on.filesChanged(state, event, at)
  add(state, at, { kind = "files", files = event.files, by_command = event.toolCallId ~= nil, turn_id = event.turnId, done = true })
  -- A change by another program is not the turn's, and is not taken back with it.
  for _, file in ipairs(event.toolCallId and event.files or {}) do
    if not file.unknown then
      changed_by(state, event.turnId, file.uri, file.before, file.after)
    end
  end
end

function on.checkpointRestored(state, event, at)
  local undone = event.direction == "undo"
  for _, file in ipairs(event.files) do
    for _, step in ipairs(file.steps or {}) do
      local entry = touch(state, "user", step.turnId)
      if entry then
        entry.changes = entry.changes or {}
        -- The images are those that the file really had.
        local before, after = step.from, step.to
        if undone then
          before, after = after, before
        end
        entry.changes[file.uri] = { before = before, after = after, undone = undone }
      end
    end
  end
  add(state, at, { kind = "restored", direction = event.direction, turn_ids = event.turnIds, files = event.files, done = true })
end

return M
