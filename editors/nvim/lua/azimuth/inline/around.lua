--- The text around the cursor of the current window.

local M = {}

--- The text from a line to the cursor, with the lines above and below it.
---@param bufnr integer The buffer of the window.
---@param first? integer The line, from 0.
---@param most integer The most lines that the cursor may be below it.
---@return azimuth.inline.Place? # Nil if the cursor is elsewhere.
function M.from(bufnr, first, most)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local row = cursor[1] - 1
  if not first or row < first or row - first > most then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(bufnr, math.max(0, first - 1), row + 2, false)
  local above = first > 0 and table.remove(lines, 1) or nil
  local below = #lines > row - first + 1 and table.remove(lines) or nil
  return { lines = lines, col = cursor[2], above = above, below = below }
end

return M
