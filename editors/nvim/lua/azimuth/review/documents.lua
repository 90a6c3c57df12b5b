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
      local buftype = vim.bo[vim.api.nvim_win_get_buf(window)].buftype
      if (buftype == "" or buftype == "acwrite") and not fixed and not vim.wo[window].diff then
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

--- Shows a buffer in a window for files, and goes there.
---@param bufnr integer
function M.show_buffer(bufnr)
  if vim.api.nvim_get_current_buf() == bufnr then
    return
  end
  local here = vim.fn.bufwinid(bufnr)
  vim.api.nvim_set_current_win(here > 0 and here or file_window())
  vim.api.nvim_win_set_buf(0, bufnr)
end

--- Shows a document so.
---@param uri string
---@return integer bufnr
function M.show(uri)
  local bufnr = M.load(uri)
  M.show_buffer(bufnr)
  return bufnr
end

return M
