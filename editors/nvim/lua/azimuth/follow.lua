--- Following the agent: a window shows the file and the line that it looks at, and never takes the cursor.
---
--- The window is one of its own, made when there is something to show. Whoever closes it is not followed for until the next turn.
--- A file that was read for it alone goes when it shows another one. It is the user's once they have been in it.

local client = require("azimuth.client")
local config = require("azimuth.config")
local documents = require("azimuth.lang.documents")

local M = {}

---@type integer? The window, in whichever tab page it was made.
local window = nil
--- True if the user has closed the window since the turn began.
local is_closed = false
---@class azimuth.Shown
---@field is_new boolean Whether the buffer was made for the window, and not only loaded.
---@field was_listed boolean Whether it was in the buffer list before.
---@field has_swap boolean Whether it is to have a swap file once it is the user's.
---@field entered integer The autocommand that hears of it when the user enters it.
---@type table<integer, azimuth.Shown> The buffers that were loaded for the window, and that the user has not been in.
local made = {}
--- True while the window is being changed: that enters buffers, too.
local is_showing = false
--- True if files that are in use are to be looked at again, and the delay until then in milliseconds.
local is_waiting = false
local LATER = 1000

---@return boolean
local function is_shown()
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

--- A window of this tab page that shows a file, and where the file of the agent can stand beside.
---@return integer?
local function neighbour()
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local is_floating = vim.api.nvim_win_get_config(other).relative ~= ""
    if not is_floating and vim.bo[vim.api.nvim_win_get_buf(other)].buftype == "" then
      return other
    end
  end
end

--- Shows a buffer in the window, which is made if need be.
---@param bufnr integer
local function show(bufnr)
  if is_shown() then
    vim.api.nvim_win_set_buf(window, bufnr)
    return
  end
  local beside = neighbour()
  window = vim.api.nvim_open_win(bufnr, false, { split = beside and "below" or "above", win = beside or -1 })
  vim.api.nvim_set_option_value("cursorline", true, { scope = "local", win = window })
end

--- True if the user does something that a window that comes or changes would disturb.
---@return boolean
local function is_busy()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking or mode.mode:match("^[cr]") ~= nil or vim.fn.getcmdwintype() ~= ""
end

---@param bufnr integer
local function forget(bufnr)
  -- It went with its buffer, if that is gone.
  pcall(vim.api.nvim_del_autocmd, made[bufnr].entered)
  made[bufnr] = nil
end

--- Leaves a buffer to the user.
---@param bufnr integer
local function give(bufnr)
  if made[bufnr].has_swap then
    documents.add_swap_file(bufnr)
  end
  forget(bufnr)
  vim.bo[bufnr].buflisted = true
end

--- Notes that a buffer is loaded for the window.
---@param bufnr integer
---@param is_new boolean
---@param has_swap boolean
local function note(bufnr, is_new, has_swap)
  local entered = vim.api.nvim_create_autocmd("BufEnter", {
    buffer = bufnr,
    callback = function()
      if not is_showing then
        give(bufnr)
        documents.catch_up(bufnr)
      end
    end,
  })
  made[bufnr] = { is_new = is_new, was_listed = vim.bo[bufnr].buflisted, has_swap = has_swap, entered = entered }
end

--- Lets the files go that were loaded for the window, and that nobody sees or needs.
local function tidy()
  local is_left = false
  for bufnr, of in pairs(made) do
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      forget(bufnr)
    elseif vim.bo[bufnr].modified then
      -- A buffer that somebody has changed must not be lost, nor go out of sight.
      give(bufnr)
    elseif #vim.fn.win_findbuf(bufnr) == 0 then
      local unload = not of.is_new or documents.is_in_list(bufnr)
      if documents.is_asked_about(bufnr) or not pcall(vim.api.nvim_buf_delete, bufnr, { unload = unload }) then
        is_left = true
      else
        forget(bufnr)
        if vim.api.nvim_buf_is_valid(bufnr) then
          vim.bo[bufnr].swapfile = of.has_swap or vim.bo[bufnr].swapfile
        end
      end
    end
  end
  -- Files that are in use just now are looked at again.
  if is_left and not is_waiting then
    is_waiting = true
    vim.defer_fn(function()
      is_waiting = false
      tidy()
    end, LATER)
  end
end

--- Loads a file as for a question about it, unless it would hold up the editor.
---@param path string
---@param size integer In bytes.
---@return integer? bufnr
local function load(path, size)
  local loaded = documents.loaded(vim.uri_from_fname(path))
  if loaded and documents.is_held(loaded) then
    -- It gets its swap file from the one who holds it.
    note(loaded, false, false)
    return loaded
  elseif loaded or size > documents.MAX_BYTES then
    return loaded
  end
  local is_new = vim.fn.bufexists(path) == 0
  local bufnr = vim.fn.bufadd(path)
  local has_swap = vim.bo[bufnr].swapfile
  if documents.load(bufnr) then
    note(bufnr, is_new, has_swap)
    return bufnr
  elseif is_new then
    pcall(vim.api.nvim_buf_delete, bufnr, { force = true })
  end
end

--- Shows where the agent looks.
---@param location azimuth.Location
local function look_at(location)
  local ok, path = pcall(vim.uri_to_fname, location.uri)
  local stat = ok and location.uri:match("^file:") and vim.uv.fs_stat(path)
  if is_busy() or not stat or stat.type ~= "file" or vim.api.nvim_get_current_win() == window then
    return
  end
  local bufnr = load(path, stat.size)
  if not bufnr then
    return
  end
  show(bufnr)
  if made[bufnr] then
    -- A buffer that was held for a question is listed when it is shown.
    vim.bo[bufnr].buflisted = made[bufnr].was_listed
  end
  if location.line then
    local row = math.min(location.line + 1, vim.api.nvim_buf_line_count(bufnr))
    vim.api.nvim_win_set_cursor(window, { row, 0 })
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! zvzz")
    end)
  end
end

---@param session_id string?
---@param event azimuth.Event.ToolCallStarted|azimuth.Event.ToolCallEnded
local function on_call(session_id, event)
  local location = event.locations and event.locations[1]
  if not config.values.follow or is_closed or session_id ~= client.session() or not location then
    return
  end
  is_showing, documents.is_followed = true, true
  -- A text that may not be changed just now, or a window that cannot be split: it is not worth a message.
  pcall(look_at, location)
  is_showing, documents.is_followed = false, false
  tidy()
end

client.on("toolCallStarted", on_call)
client.on("toolCallEnded", on_call)
client.on("turnStarted", function(session_id)
  if session_id == client.session() then
    is_closed = false
  end
end)

vim.api.nvim_create_autocmd("WinClosed", {
  group = vim.api.nvim_create_augroup("azimuth.follow", { clear = true }),
  callback = function(args)
    if tonumber(args.match) == window then
      window, is_closed = nil, true
      -- It is there until this is over.
      vim.schedule(tidy)
    end
  end,
})

--- `:Azimuth follow [on|off]`; without a word, the other of the two.
---@param words string[]
function M.command(words)
  local wanted = words[2]
  if wanted and wanted ~= "on" and wanted ~= "off" then
    vim.notify("Azimuth: :Azimuth follow on, or off", vim.log.levels.WARN)
    return
  end
  config.values.follow = wanted == "on" or (wanted == nil and not config.values.follow)
  is_closed = false
  if not config.values.follow and is_shown() and #vim.api.nvim_tabpage_list_wins(vim.api.nvim_win_get_tabpage(window)) > 1 then
    vim.api.nvim_win_close(window, false)
  end
  vim.notify("Azimuth: " .. (config.values.follow and "a window shows where the agent looks." or "following the agent is off."))
end

return M
