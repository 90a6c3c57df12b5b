--- The documents that questions about code are about: buffers that are open, and files that are read for a question and let go
--- after it.

local M = {}

--- The largest file that is read for a question, in bytes: the editor stands still while it reads.
M.MAX_BYTES = 4 * 1024 * 1024

--- What keeps Neovim from loading a buffer just now: text that may not be changed, a command-line window, a prompt.
local BUSY = { "E11:", "E12:", "E48:", "E523:", "E565:", "E788:" }
--- When a buffer that could not be let go is let go, in milliseconds.
local LATER = 1000

---@class azimuth.lang.Held
---@field users integer How many questions need it.
---@field is_new boolean Whether the buffer was made for them.
---@field opened? integer The autocommand that hears of it when the user opens it.
---@type table<integer, azimuth.lang.Held>
local held = {}

--- Whether a buffer was loaded for a question alone. The user does not know of it, and neither shall our server: it would take
--- the file for one that is open here.
---@param bufnr integer
---@return boolean
function M.is_held(bufnr)
  -- While its autocommands run, it is in a window that nobody sees.
  return held[bufnr] ~= nil and vim.iter(vim.fn.win_findbuf(bufnr)):all(function(window)
    return vim.fn.win_gettype(window) == "autocmd"
  end)
end

--- The path of a document of a file.
---@param uri string
---@return string? path
local function path_of(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  return ok and uri:match("^file:") and path or nil
end

--- A URI as this plugin writes it. Language servers escape differently.
---@param uri string
---@return string
function M.normal(uri)
  local path = path_of(uri)
  return path and vim.uri_from_fname(path) or uri
end

--- The loaded buffer of a document, held ones included.
---@param uri string
---@return integer? bufnr
function M.loaded(uri)
  local ok, wanted = pcall(vim.uri_to_fname, uri)
  if not ok then
    return nil
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.api.nvim_buf_get_name(bufnr) == wanted then
      return bufnr
    end
  end
  local found = vim.fn.bufnr("^" .. vim.fn.escape(wanted, "\\*?[]{}^$,") .. "$")
  return found > 0 and vim.api.nvim_buf_is_loaded(found) and found or nil
end

--- The buffer of a document that is open for the user.
---@param uri string
---@return integer? bufnr
function M.open(uri)
  local bufnr = M.loaded(uri)
  return bufnr and not M.is_held(bufnr) and bufnr or nil
end

--- Loads a buffer as if the user had opened it, so that language servers attach, but without showing it, without a swap file
--- and the questions that come with one, and without a modeline: nobody has chosen to open it.
---@param bufnr integer
---@return boolean loaded
---@return string? problem
local function load(bufnr)
  local globally, locally = vim.go.modeline, vim.bo[bufnr].modeline
  vim.go.modeline, vim.bo[bufnr].modeline = false, false
  local ok, problem = pcall(vim.api.nvim_cmd, {
    cmd = "call",
    args = { ("bufload(%d)"):format(bufnr) },
    mods = { silent = true, noswapfile = true },
  }, {})
  vim.go.modeline, vim.bo[bufnr].modeline = globally, locally
  -- An autocommand of the user's that fails has not kept the file from being read.
  return vim.api.nvim_buf_is_loaded(bufnr), not ok and tostring(problem) or nil
end

---@class azimuth.lang.Document
---@field bufnr integer
---@field is_open boolean Whether the user has it open.

---@param bufnr integer
local function forget(bufnr)
  local opened = held[bufnr] and held[bufnr].opened
  if opened then
    -- It went with its buffer, if that is gone.
    pcall(vim.api.nvim_del_autocmd, opened)
  end
  held[bufnr] = nil
end

--- Leaves a document to the user, whose it is from now on.
---@param bufnr integer
local function keep(bufnr)
  forget(bufnr)
  vim.bo[bufnr].buflisted = true
  require("azimuth.client").attach(bufnr)
end

--- The document of a question, loaded until `release` if it is not open.
---@param uri string
---@return azimuth.lang.Document?
---@return azimuth.LangStatus? status Why there is none.
---@return string? message
function M.take(uri)
  local bufnr = M.loaded(uri)
  if bufnr and not M.is_held(bufnr) then
    return { bufnr = bufnr, is_open = true }
  end
  if bufnr then
    held[bufnr].users = held[bufnr].users + 1
    return { bufnr = bufnr, is_open = false }
  end
  local path = path_of(uri)
  if not path then
    return nil, "noServer", "It is no file, and not open."
  end
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= "file" then
    return nil, "failed", "There is no such file: " .. path
  end
  if stat.size > M.MAX_BYTES then
    return nil, "unsupported", ("%s is too large to be read beside what is open: %d bytes."):format(path, stat.size)
  end
  local is_new = vim.fn.bufexists(path) == 0
  bufnr = vim.fn.bufadd(path)
  held[bufnr] = { users = 1, is_new = is_new }
  local loaded, problem = load(bufnr)
  if not loaded then
    M.release(bufnr)
    for _, code in ipairs(BUSY) do
      if problem and problem:find(code, 1, true) then
        return nil, "editorBusy", "Neovim cannot read a file just now: " .. problem
      end
    end
    return nil, "failed", ("%s could not be read: %s"):format(path, problem or "Neovim does not say why")
  end
  -- Whoever opens it meanwhile keeps it. It was read already, so nothing else tells our server of it.
  held[bufnr].opened = vim.api.nvim_create_autocmd({ "BufEnter", "BufWinEnter" }, {
    buffer = bufnr,
    callback = function()
      keep(bufnr)
    end,
  })
  return { bufnr = bufnr, is_open = false }
end

--- Lets a document go. A buffer that was loaded for a question is unloaded with its last one.
---@param bufnr integer
function M.release(bufnr)
  local hold = held[bufnr]
  if not hold then
    return
  end
  hold.users = hold.users - 1
  if hold.users > 0 then
    return
  end
  if not vim.api.nvim_buf_is_valid(bufnr) then
    forget(bufnr)
  elseif vim.bo[bufnr].modified then
    -- Somebody has changed it, and that is not to be lost: it is the user's document from now on.
    keep(bufnr)
  elseif pcall(vim.api.nvim_buf_delete, bufnr, { force = true, unload = not hold.is_new }) then
    forget(bufnr)
  else
    hold.users = 1
    vim.defer_fn(function()
      M.release(bufnr)
    end, LATER)
  end
end

return M
