--- Documents by their URI: their buffers, and windows to show them in.

local M = {}

--- The loaded buffer of a document.
---@param uri string
---@return integer?
function M.buffer(uri)
  local wanted = vim.uri_to_fname(uri)
  local real = vim.uv.fs_realpath(wanted)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" then
      local name = vim.api.nvim_buf_get_name(bufnr)
      if name == wanted or (real and name ~= "" and vim.fs.basename(name) == vim.fs.basename(wanted) and vim.uv.fs_realpath(name) == real) then
        return bufnr
      end
    end
  end
end

--- A window for files: the current one, else the one before, else any; else a new one.
---@return integer
local function file_window()
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(candidates) do
    if vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_config(window).relative == "" then
      local fixed = vim.fn.has("nvim-0.11") == 1 and vim.wo[window].winfixbuf or false
      if vim.bo[vim.api.nvim_win_get_buf(window)].buftype == "" and not fixed then
        return window
      end
    end
  end
  vim.cmd("topleft vertical new")
  return vim.api.nvim_get_current_win()
end

--- Loads a document into a listed buffer.
---@param uri string
---@return integer bufnr
function M.load(uri)
  local bufnr = M.buffer(uri) or vim.fn.bufadd(vim.uri_to_fname(uri))
  vim.bo[bufnr].buflisted = true
  return bufnr
end

--- Shows a document in a window for files, and goes there.
---@param uri string
---@return integer bufnr
function M.show(uri)
  local bufnr = M.load(uri)
  if vim.api.nvim_get_current_buf() == bufnr then
    return bufnr
  end
  local here = vim.fn.bufwinid(bufnr)
  local window = here > 0 and here or file_window()
  vim.api.nvim_set_current_win(window)
  vim.api.nvim_win_set_buf(window, bufnr)
  return bufnr
end

return M
