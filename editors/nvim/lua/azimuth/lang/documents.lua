--- The documents that questions about code are about: buffers that are open, and files that are read for a question and let go
--- after it.

local M = {}

--- The largest file that is read for a question, in bytes: the editor stands still while it reads.
M.MAX_BYTES = 4 * 1024 * 1024

--- The errors if a buffer cannot be loaded just now: text that may not be changed, a command-line window, a prompt.
local BUSY = { "E11:", "E12:", "E48:", "E523:", "E565:", "E788:" }
--- When a buffer that could not be let go is let go, in milliseconds.
local LATER = 1000

--- True while a window is about to show a buffer to which the user does not go: it is not caught up with then.
M.is_followed = false

---@class azimuth.lang.Held
---@field users integer How many questions need it.
---@field is_new boolean Whether the buffer was made for them.
---@field has_swap boolean Whether the buffer had a swap file, if it were the user's.
---@field file uv.fs_stat.result The file as it was when it was read.
---@field opened? integer The autocommand that hears of it when the user opens it.
---@type table<integer, azimuth.lang.Held>
local held = {}
---@type table<integer, integer> How many questions are about a buffer that is open.
local asked = {}

--- True if a buffer was loaded for a question alone. The user does not know of it, and neither shall our server: it would take
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

--- The file behind a path: the same for all links to it.
---@param path string
---@return string? file
local function file_of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type == "file" and ("%d:%d"):format(stat.dev, stat.ino) or nil
end

---@param known table<string, integer> What was found before; is filled at first.
---@return table<string, integer> # The loaded buffers, by their files.
local function buffers_by_file(known)
  if next(known) then
    return known
  end
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local is_of_file = vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == ""
    local file = is_of_file and file_of(vim.api.nvim_buf_get_name(bufnr))
    if file then
      known[file] = bufnr
    end
  end
  return known
end

--- The loaded buffer of a document, held ones included. A file may be open under another name of it, by a link: that is its
--- buffer as well, since Neovim has one for each file.
---@param uri string
---@param known? table<string, integer> For those who look for many documents at once: an empty table, the same for all of them.
---@return integer? bufnr
function M.loaded(uri, known)
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
  if found > 0 and vim.api.nvim_buf_is_loaded(found) then
    return found
  end
  local file = path_of(uri) and file_of(wanted)
  local linked = file and buffers_by_file(known or {})[file]
  return linked and vim.api.nvim_buf_is_loaded(linked) and linked or nil
end

--- The buffer of a document that is open for the user.
---@param uri string
---@return integer? bufnr
function M.open(uri)
  local bufnr = M.loaded(uri)
  return bufnr and not M.is_held(bufnr) and bufnr or nil
end

--- Runs a command for a file that nobody has chosen to open: without a message, a swap file and the questions that come with one,
--- and a modeline.
---@param bufnr integer
---@param command vim.api.keyset.cmd
---@return string? problem
local function quietly(bufnr, command)
  local globally, locally = vim.go.modeline, vim.bo[bufnr].modeline
  vim.go.modeline, vim.bo[bufnr].modeline = false, false
  command.mods = { silent = true, noswapfile = true }
  local ok, problem = pcall(vim.api.nvim_cmd, command, {})
  vim.go.modeline, vim.bo[bufnr].modeline = globally, locally
  return not ok and tostring(problem) or nil
end

--- Loads a buffer as if the user had opened it, so that language servers attach, but without showing it, and without a swap file:
--- see `add_swap_file`.
---@param bufnr integer
---@return boolean loaded
---@return string? problem
function M.load(bufnr)
  local problem = quietly(bufnr, { cmd = "call", args = { ("bufload(%d)"):format(bufnr) } })
  -- An autocommand of the user's that fails has not kept the file from being read.
  return vim.api.nvim_buf_is_loaded(bufnr), problem
end

--- Reads a held file again, as 'autoread' does, so that the language servers that have it hear of its new text.
---@param bufnr integer
---@return string? problem
local function reload(bufnr)
  local own = vim.bo[bufnr].autoread
  vim.bo[bufnr].autoread = true
  local problem = quietly(bufnr, { cmd = "checktime", args = { tostring(bufnr) } })
  vim.bo[bufnr].autoread = own
  return problem
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

--- Gives a buffer the swap file that it would have if the user had opened it, and says where another editor has one of the file:
--- Neovim asks what to do only while a file is read.
---@param bufnr integer
function M.add_swap_file(bufnr)
  local ok, problem = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.api.nvim_cmd({ cmd = "setlocal", args = { "swapfile" }, mods = { silent = true } }, {})
  end)
  if not ok then
    local why = tostring(problem):find("E325", 1, true) and "there is a swap file of it, so another editor may have it open" or problem
    vim.notify(("Azimuth: take care with %s: %s."):format(vim.api.nvim_buf_get_name(bufnr), why), vim.log.levels.WARN)
  end
end

--- Modelines are read after autocommands, and only where there is one.
local ENTERED = "AzimuthFileEntered"
vim.api.nvim_create_autocmd("User", { pattern = ENTERED, callback = function() end })

--- Does for a buffer that the user enters what its reading left out: its filetype's options of the window, and its modeline. What
--- its reading did is not done again, since that may change the text, or move the cursor.
---@param bufnr integer
function M.catch_up(bufnr)
  if not vim.api.nvim_buf_is_valid(bufnr) or vim.api.nvim_get_current_buf() ~= bufnr then
    return
  end
  local view = vim.fn.winsaveview()
  if vim.bo[bufnr].filetype ~= "" then
    pcall(vim.api.nvim_exec_autocmds, "FileType", { pattern = vim.bo[bufnr].filetype, modeline = false })
  end
  -- It and the modeline count more than the filetype, as when a file is read.
  local editorconfig = vim.F.if_nil(vim.b[bufnr].editorconfig, vim.g.editorconfig)
  if vim.api.nvim_buf_is_valid(bufnr) and editorconfig ~= false and editorconfig ~= 0 then
    pcall(function()
      require("editorconfig").config(bufnr)
    end)
  end
  pcall(vim.api.nvim_exec_autocmds, "User", { pattern = ENTERED, modeline = true })
  if vim.api.nvim_get_current_buf() == bufnr then
    vim.fn.winrestview(view)
  end
end

--- Leaves a document to the user, whose it is from now on. Who holds it goes on with it.
---@param bufnr integer
local function keep(bufnr)
  asked[bufnr] = held[bufnr].users > 0 and held[bufnr].users or nil
  if held[bufnr].has_swap then
    M.add_swap_file(bufnr)
  end
  forget(bufnr)
  vim.bo[bufnr].buflisted = true
  require("azimuth.client").attach(bufnr)
end

---@param path string
---@param problem? string
---@return nil, azimuth.LangStatus, string
local function unread(path, problem)
  for _, code in ipairs(BUSY) do
    if problem and problem:find(code, 1, true) then
      return nil, "editorBusy", "Neovim cannot read a file just now: " .. problem
    end
  end
  return nil, "failed", ("%s could not be read: %s"):format(path, problem or "Neovim does not say why")
end

--- The file of a path, if it can be read for a question.
---@param path string
---@return uv.fs_stat.result?
---@return azimuth.LangStatus? status Why not.
---@return string? message
local function file_to_read(path)
  local file = vim.uv.fs_stat(path)
  if not file or file.type ~= "file" then
    return nil, "failed", "There is no such file: " .. path
  end
  if file.size > M.MAX_BYTES then
    return nil, "unsupported", ("%s is too large to be read in addition to the open files: %d bytes."):format(path, file.size)
  end
  return file
end

---@param a uv.fs_stat.result
---@param b uv.fs_stat.result
---@return boolean
local function is_same_text(a, b)
  return a.size == b.size and a.ino == b.ino and a.mtime.sec == b.mtime.sec and a.mtime.nsec == b.mtime.nsec
end

--- The document in a loaded buffer. One that is held for other questions is shared with them, with the text that its file has now.
---@param bufnr integer
---@return azimuth.lang.Document?
---@return azimuth.LangStatus? status Why there is none.
---@return string? message
local function share(bufnr)
  local hold = held[bufnr]
  if not hold or not M.is_held(bufnr) then
    asked[bufnr] = (asked[bufnr] or 0) + 1
    return { bufnr = bufnr, is_open = true }
  end
  local path = vim.api.nvim_buf_get_name(bufnr)
  local file, status, message = file_to_read(path)
  if not file then
    return nil, status, message
  end
  if not is_same_text(file, hold.file) and not vim.bo[bufnr].modified then
    local problem = reload(bufnr)
    if problem then
      return unread(path, problem)
    end
    hold.file = file
  end
  hold.users = hold.users + 1
  return { bufnr = bufnr, is_open = false }
end

--- The document of a question, loaded until `release` if it is not open.
---@param uri string
---@return azimuth.lang.Document?
---@return azimuth.LangStatus? status Why there is none.
---@return string? message
function M.take(uri)
  local bufnr = M.loaded(uri)
  if bufnr then
    return share(bufnr)
  end
  local path = path_of(uri)
  if not path then
    return nil, "noServer", "It is not a file, and not open."
  end
  local file, status, message = file_to_read(path)
  if not file then
    return nil, status, message
  end
  local is_new = vim.fn.bufexists(path) == 0
  bufnr = vim.fn.bufadd(path)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    -- Neovim knows a file by more than its name. What is the user's is never held: it would be let go with its windows.
    return share(bufnr)
  end
  held[bufnr] = { users = 1, is_new = is_new, has_swap = vim.bo[bufnr].swapfile, file = file }
  local loaded, problem = M.load(bufnr)
  if not loaded then
    M.release(bufnr)
    return unread(path, problem)
  end
  -- Whoever opens it meanwhile keeps it. It was read already, so nothing else tells our server of it.
  held[bufnr].opened = vim.api.nvim_create_autocmd({ "BufEnter", "BufWinEnter" }, {
    buffer = bufnr,
    callback = function()
      keep(bufnr)
      if not M.is_followed then
        M.catch_up(bufnr)
      end
    end,
  })
  return { bufnr = bufnr, is_open = false }
end

--- True if a question is about a buffer just now.
---@param bufnr integer
---@return boolean
function M.is_asked_about(bufnr)
  return held[bufnr] ~= nil or asked[bufnr] ~= nil
end

--- True if a list of locations, such as the quickfix list, holds a buffer: such a list knows files by their buffers alone.
---@param bufnr integer
---@return boolean
function M.is_in_list(bufnr)
  local function is_in(get)
    for nr = 1, get({ nr = "$" }).nr do
      for _, item in ipairs(get({ nr = nr, items = 1 }).items) do
        if item.bufnr == bufnr then
          return true
        end
      end
    end
    return false
  end
  if is_in(vim.fn.getqflist) then
    return true
  end
  return vim.iter(vim.api.nvim_list_wins()):any(function(win)
    return is_in(function(what)
      return vim.fn.getloclist(win, what)
    end)
  end)
end

--- Lets a document go. A buffer that was loaded for a question is unloaded with its last one.
---@param bufnr integer
function M.release(bufnr)
  local hold = held[bufnr]
  if not hold then
    local left = (asked[bufnr] or 1) - 1
    asked[bufnr] = left > 0 and left or nil
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
  elseif pcall(vim.api.nvim_buf_delete, bufnr, { force = true, unload = not hold.is_new or M.is_in_list(bufnr) }) then
    if vim.api.nvim_buf_is_valid(bufnr) then
      -- The option stays with the buffer, and the user's text would never have a swap file again.
      vim.bo[bufnr].swapfile = hold.has_swap
    end
    forget(bufnr)
  else
    hold.users = 1
    vim.defer_fn(function()
      M.release(bufnr)
    end, LATER)
  end
end

--- The hash of a document's text, as our server makes it: SHA-256 in hexadecimal, without byte order mark and with LF line ends.
---@param text string
---@return string? hash Nil for what is no text.
function M.hash(text)
  if text:find("\0", 1, true) then
    return nil
  end
  return vim.fn.sha256((text:gsub("^\239\187\191", ""):gsub("\r+\n", "\n")))
end

return M
