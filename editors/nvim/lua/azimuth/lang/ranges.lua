--- Positions and ranges of one text, compared. Pure; whatever they are counted in.

local M = {}

---@param a lsp.Position|azimuth.Position
---@param b lsp.Position|azimuth.Position
---@return boolean
function M.is_before(a, b)
  return a.line < b.line or (a.line == b.line and a.character < b.character)
end

--- True if one range comes before another: by where it begins, and then by where it ends.
---@param a lsp.Range|azimuth.Range
---@param b lsp.Range|azimuth.Range
---@return boolean
function M.is_first(a, b)
  if M.is_before(a.start, b.start) or M.is_before(b.start, a.start) then
    return M.is_before(a.start, b.start)
  end
  return M.is_before(a["end"], b["end"])
end

--- True if two ranges have a position in common, if only an end of theirs.
---@param a lsp.Range|azimuth.Range
---@param b lsp.Range|azimuth.Range
---@return boolean
function M.touch(a, b)
  return not M.is_before(b["end"], a.start) and not M.is_before(a["end"], b.start)
end

--- True if no edit begins before another one ends: the outcome of such edits is anybody's guess.
---@param edits { range: lsp.Range|azimuth.Range }[]
---@return boolean
function M.are_apart(edits)
  local sorted = vim.list_slice(edits)
  table.sort(sorted, function(a, b)
    return M.is_first(a.range, b.range)
  end)
  for at = 2, #sorted do
    if M.is_before(sorted[at].range.start, sorted[at - 1].range["end"]) then
      return false
    end
  end
  return true
end

return M
