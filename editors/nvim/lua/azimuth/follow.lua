--- Following the agent: a window shows the file and the line that it looks at, and never takes the cursor.
---
--- The window is one of its own, made when there is something to show. Whoever closes it is not followed for until the next turn.

local client = require("azimuth.client")
local config = require("azimuth.config")
local documents = require("azimuth.lang.documents")

local M = {}

---@type integer? The window, in whichever tab page it was made.
local window = nil
--- Whether the user has closed the window since the turn began.
local is_closed = false

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

--- Whether the user does something that a window that comes or changes would disturb.
---@return boolean
local function is_busy()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking or mode.mode:match("^[cr]") ~= nil or vim.fn.getcmdwintype() ~= ""
end

--- Loads a file as `:edit` does. One whose swap file would raise a question is not loaded, nor one that would hold up the editor.
---@param path string
---@param size integer In bytes.
---@return integer? bufnr
local function load(path, size)
  local loaded = documents.loaded(vim.uri_from_fname(path))
  if loaded or size > documents.MAX_BYTES then
    return loaded
  end
  local bufnr = vim.fn.bufadd(path)
  local asks = false
  local guard = vim.api.nvim_create_autocmd("SwapExists", {
    callback = function()
      asks = true
      vim.v.swapchoice = "q"
    end,
  })
  pcall(vim.fn.bufload, bufnr)
  vim.api.nvim_del_autocmd(guard)
  if asks or not vim.api.nvim_buf_is_loaded(bufnr) then
    return nil
  end
  vim.bo[bufnr].buflisted = true
  return bufnr
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
  -- A text that may not be changed just now, or a window that cannot be split: it is not worth a message.
  pcall(look_at, location)
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
  vim.notify("Azimuth: " .. (config.values.follow and "a window shows where the agent looks." or "the agent is not followed."))
end

return M
