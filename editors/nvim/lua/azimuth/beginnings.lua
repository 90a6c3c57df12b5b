--- The content of an empty chat: things to try at the open file, sessions to go on with, and the workspace's setup.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local render = require("azimuth.render.beginnings")

local M = {}

--- So many sessions are offered; `:Azimuth sessions` lists all.
local RECENT = 5

---@type azimuth.Start
local start = { setup = {}, beginnings = {}, sessions = {} }
--- For so long the user stays with a file before it is asked what to try there, in milliseconds: who steps through files
--- passes many.
local STAYS = 200
--- How often another file was entered.
local entered = 0
--- How often it was asked for: an answer that comes late is of no use.
local asked = 0
--- The file that the user had before them last.
---@type integer?
local file = nil

--- True if nothing was said in a session. A mere notice does not count.
---@param state? azimuth.State
---@return boolean
local function is_empty(state)
  if not state or #state.queue > 0 then
    return false
  end
  for _, entry in ipairs(state.entries) do
    if entry and (entry.kind ~= "notice" or entry.severity == "told") then
      return false
    end
  end
  return true
end

--- Returns what an empty session shows.
---@param state? azimuth.State
---@return azimuth.Block? block Nil if something was said.
---@return table<string, azimuth.Choice>? keys What each key does.
---@return table<integer, azimuth.Choice>? rows What the line in each row of the block does, from 0.
function M.of(state)
  if is_empty(state) then
    return render.draw(start)
  end
end

---@param choice azimuth.Choice
local function take(choice)
  if choice.prompt then
    require("azimuth.workflows").put({ prompt = choice.prompt, send = false })
  elseif choice.session_id then
    client.open_session(choice.session_id, function(err)
      if err then
        vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
      else
        require("azimuth.chat").open()
      end
    end)
  end
end

--- Does what a key stands for.
---@param key string
function M.take(key)
  local _, keys = M.of(client.state())
  if keys and keys[key] then
    take(keys[key])
  end
end

--- Returns what to map a key to that stands for something: a command, since a delayed action may not begin to write.
---@param key string
---@return string?
function M.mapped(key)
  local _, keys = M.of(client.state())
  return keys and keys[key] and ("<Cmd>lua require('azimuth.beginnings').take('%s')<CR>"):format(key) or nil
end

--- Does what a line stands for.
---@param row integer Of the block, from 0.
---@return boolean taken Whether it stands for anything.
function M.take_row(row)
  local _, _, rows = M.of(client.state())
  local choice = rows and rows[row]
  if choice then
    take(choice)
  end
  return choice ~= nil
end

--- The sessions that were said something in, but for the current one.
---@param sessions azimuth.SessionInfo[]
---@return azimuth.SessionInfo[]
local function recent(sessions)
  local others = vim.tbl_filter(function(session)
    return session.title ~= "" and session.sessionId ~= client.session()
  end, sessions)
  return vim.list_slice(others, 1, RECENT)
end

--- Asks for all of it, and has it drawn once it is there.
local function ask()
  if not is_empty(client.state()) or not require("azimuth.chat").is_open() then
    return
  end
  asked = asked + 1
  local mine = asked
  local uri = file and vim.api.nvim_buf_is_valid(file) and client.is_document(file) and vim.uri_from_bufnr(file) or nil
  client.request(protocol.requests.prompt_beginnings, { uri = uri, sessionId = client.session() }, function(err, told)
    if err or mine ~= asked then
      return
    end
    client.request(protocol.requests.session_list, { limit = 50 }, function(list_err, list)
      if mine == asked then
        start = { setup = told.setup, beginnings = told.beginnings, sessions = list_err and {} or recent(list.sessions) }
        require("azimuth.chat").redraw()
      end
    end)
  end)
end

--- Notes which file the user has before them.
---@param bufnr integer
local function note(bufnr)
  if bufnr ~= file and client.is_document(bufnr) then
    file = bufnr
    entered = entered + 1
    local mine = entered
    vim.defer_fn(function()
      if mine == entered then
        ask()
      end
    end, STAYS)
  end
end

--- The user has said whether the workspace is trusted.
function M.trusted()
  ask()
end

--- The chat is shown.
function M.shown()
  local windows = vim.api.nvim_tabpage_list_wins(0)
  -- The window that the user came from, if it is one of a file.
  table.insert(windows, 1, vim.fn.win_getid(vim.fn.winnr("#")))
  table.insert(windows, 1, vim.api.nvim_get_current_win())
  for _, window in ipairs(windows) do
    local bufnr = vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) or -1
    if bufnr ~= -1 and client.is_document(bufnr) then
      file = bufnr
      break
    end
  end
  ask()
end

client.on("sessionSelected", ask)
client.on("sessionOpened", ask)
client.on("modelChanged", function(session_id)
  if session_id == client.session() then
    ask()
  end
end)
-- Without these, the content would be wrong until the chat is opened again.
client.on("connection", function(_, event)
  if event.state == "ready" then
    ask()
  end
end)
client.on_notification(protocol.notifications.servers_changed, ask)
vim.api.nvim_create_autocmd("BufEnter", {
  group = vim.api.nvim_create_augroup("azimuth.beginnings", { clear = true }),
  callback = function(args)
    note(args.buf)
  end,
})

return M
