--- Handovers in a session's state, each of which replaces the earlier part of the conversation. Pure.

local entries = require("azimuth.fold.entries")

local M = {}

---@type table<string, fun(state: azimuth.State, event: any, at: integer)>
M.on = {}

local on = M.on

function on.compacting(state)
  state.compacting = true
end

function on.compacted(state, event, at)
  local made = event.compaction
  state.compacting = false
  entries.add(state, at, {
    kind = "handover",
    id = made.compactionId,
    turn_id = event.turnId,
    compaction = made,
    text = made.written or "",
    done = true,
  })
  table.insert(state.handovers, made.compactionId)
end

function on.compactionFailed(state)
  state.compacting = false
end

function on.compactionCorrected(state, event)
  local entry = entries.touch(state, "handover", event.compactionId)
  if entry then
    entry.text, entry.how_changed = event.written, "corrected"
  end
end

--- Later ones stand on it, and go with it.
function on.compactionTakenBack(state, event)
  local is_known = vim.list_contains(state.handovers, event.compactionId)
  while is_known and #state.handovers > 0 do
    local id = table.remove(state.handovers)
    local entry = entries.touch(state, "handover", id)
    if entry then
      entry.how_changed = "taken_back"
    end
    is_known = id ~= event.compactionId
  end
  -- How full it is now is known with the next answer.
  state.context = nil
end

return M
