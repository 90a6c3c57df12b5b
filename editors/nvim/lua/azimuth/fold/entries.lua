--- The entries of a session's state: how they are added, found and changed. Pure.

local M = {}

---@param state azimuth.State
---@param at integer
---@param entry table
---@return azimuth.Entry
function M.add(state, at, entry)
  entry.version = state.version
  entry.at = at
  table.insert(state.entries, entry)
  if entry.id then
    state.index[entry.kind .. ":" .. entry.id] = #state.entries
  end
  return entry
end

---@param state azimuth.State
---@param kind string
---@param id string
---@return azimuth.Entry?
function M.find(state, kind, id)
  local at = state.index[kind .. ":" .. id]
  return at and state.entries[at] or nil
end

--- The entry, marked as changed.
---@param state azimuth.State
---@param kind string
---@param id string
---@return azimuth.Entry?
function M.touch(state, kind, id)
  local entry = M.find(state, kind, id)
  if entry then
    entry.version = state.version
  end
  return entry
end

---@param state azimuth.State
---@param kind string
---@param id string
function M.void(state, kind, id)
  local key = kind .. ":" .. id
  local at = state.index[key]
  if at then
    state.entries[at] = false
    state.index[key] = nil
  end
end

---@param list any[]
---@param keep fun(item: any): boolean
function M.retain(list, keep)
  for at = #list, 1, -1 do
    if not keep(list[at]) then
      table.remove(list, at)
    end
  end
end

return M
