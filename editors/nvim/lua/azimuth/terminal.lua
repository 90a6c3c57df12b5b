--- The live terminals: the shell in which the agent's commands run, the one outside the sandbox, and its jobs, each in a split,
--- to be watched and typed into. They open only when the user asks for it.

local act = require("azimuth.terminal.act")
local bar = require("azimuth.terminal.bar")
local client = require("azimuth.client")
local fold = require("azimuth.fold.terminals")
local protocol = require("azimuth.generated.protocol")
local shown = require("azimuth.render.commands")
local views = require("azimuth.terminal.view")

local M = {}

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level or vim.log.levels.INFO)
end

--- Returns the terminal that a view shows, as it is now.
---@param view azimuth.terminal.View
---@return azimuth.TerminalInfo?
local function info_of(view)
  if view.terminal_id then
    return act.now(view.session_id, view.terminal_id)
  end
  return act.named(view.session_id, "shell")
end

---@param view azimuth.terminal.View
local function dress(view)
  local state = client.state(view.session_id)
  for _, window in ipairs(state and vim.fn.win_findbuf(view.bufnr) or {}) do
    local line = bar.line(state, view, info_of(view), vim.api.nvim_win_get_width(window))
    if vim.wo[window].winbar ~= line then
      vim.wo[window][0].winbar = line
    end
  end
end

local function dress_all()
  for _, view in ipairs(views.all()) do
    dress(view)
  end
end

-- Opening -----------------------------------------------------------------------------------------------------------

--- Takes the terminal of a view over, or hands it back.
---@param view azimuth.terminal.View
local function toggle_taken(view)
  local info = info_of(view)
  if info and view.terminal_id then
    act.take(view.session_id, view.terminal_id, not info.taken)
  end
end

---@param view azimuth.terminal.View
local function set_keys(view)
  local function map(key, desc, run)
    vim.keymap.set("n", key, run, { buffer = view.bufnr, nowait = true, desc = "Azimuth: " .. desc })
  end
  map("q", "close the terminal's window", "<Cmd>close<CR>")
  map("T", "take the terminal over, or hand it back", function()
    toggle_taken(view)
  end)
  map("g?", "help", function()
    vim.cmd.help("azimuth-live-terminal")
  end)
end

--- The window of this tab page that shows a view, opened if there is none.
---@param view azimuth.terminal.View
---@return integer
local function window_of(view)
  local window = vim.fn.bufwinid(view.bufnr)
  if window >= 0 then
    return window
  end
  window = vim.api.nvim_open_win(view.bufnr, false, {
    split = "below",
    win = -1,
    height = math.max(5, math.min(15, math.floor(vim.o.lines / 3))),
  })
  for option, value in pairs({ number = false, relativenumber = false, signcolumn = "no", winfixheight = true, spell = false }) do
    vim.wo[window][0][option] = value
  end
  set_keys(view)
  -- From its end on a terminal follows its output.
  vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(view.bufnr), 0 })
  return window
end

---@class azimuth.terminal.OpenOptions
---@field terminal? azimuth.TerminalInfo Without it, the session's shell.
---@field focus? boolean Whether the cursor goes there.
---@field type? boolean Whether keys go into it at once, where the cursor goes there.
---@field opened? fun(view: azimuth.terminal.View) Called once the server sends its output.

--- Opens a terminal of a session in a split.
---@param session_id azimuth.SessionId
---@param options? azimuth.terminal.OpenOptions
---@return azimuth.terminal.View
function M.open(session_id, options)
  options = options or {}
  local view = views.make(session_id, options.terminal)
  local window = window_of(view)
  dress(view)
  local function opened(followed)
    dress(view)
    if options.opened and followed then
      options.opened(view)
    end
  end
  if view.follows and view.terminal_id then
    opened(true)
  else
    view:follow(opened)
  end
  if options.focus then
    vim.api.nvim_set_current_win(window)
    if options.type then
      vim.cmd.startinsert()
    end
  end
  return view
end

-- Commands ----------------------------------------------------------------------------------------------------------

--- The terminal that a command means: the one it names, the one that the cursor is in, or what is left of `candidates` where
--- there is no doubt or the user chooses.
---@param session_id azimuth.SessionId
---@param word? string
---@param candidates azimuth.TerminalInfo[]
---@param prompt string
---@param callback fun(info: azimuth.TerminalInfo)
---@return boolean found False where nothing is meant.
local function meant(session_id, word, candidates, prompt, callback)
  if word then
    local info = act.named(session_id, word)
    if info then
      callback(info)
    else
      local names = act.names()
      local there = #names > 0 and "there are " .. table.concat(names, ", ") or "there is none yet"
      say(("there is no terminal %s; %s."):format(word, there), vim.log.levels.ERROR)
    end
    return true
  end
  local view = views.of_buffer(vim.api.nvim_get_current_buf())
  local here = view and view.session_id == session_id and info_of(view)
  if here then
    callback(here)
    return true
  elseif #candidates > 0 then
    act.choose(candidates, prompt, callback)
    return true
  end
  return false
end

---@param session_id azimuth.SessionId
---@param keep fun(info: azimuth.TerminalInfo): boolean?
---@return azimuth.TerminalInfo[]
local function those(session_id, keep)
  return vim.tbl_filter(keep, act.all(session_id))
end

--- True if something can be ended in a terminal.
---@param info azimuth.TerminalInfo
---@return boolean
local function runs(info)
  return info.alive and (info.kind == "job" or info.running ~= nil)
end

---@type table<string, fun(session_id: azimuth.SessionId, word?: string, words: table)>
local commands = {}

function commands.kill(session_id, word)
  local found = meant(session_id, word, those(session_id, runs), "end which?", function(info)
    if runs(info) then
      act.kill(session_id, info.terminalId)
    else
      say(("nothing is running in %s."):format(act.name(info)))
    end
  end)
  if not found then
    say("nothing is running in a terminal.")
  end
end

function commands.signal(session_id, word)
  local found = meant(session_id, word, those(session_id, runs), "signal which?", function(info)
    act.signal(session_id, info)
  end)
  if not found then
    say("nothing is running in a terminal.")
  end
end

function commands.takeover(session_id, word)
  local candidates = fold.waiting(client.state(session_id))
  if #candidates == 0 then
    candidates = those(session_id, runs)
  end
  local function take(info)
    M.open(session_id, {
      terminal = info,
      focus = true,
      type = true,
      opened = function(view)
        act.take(session_id, view.terminal_id, true)
      end,
    })
  end
  -- The shell is started if need be.
  if word == "shell" or not meant(session_id, word, candidates, "take over which?", take) then
    take(nil)
  end
end

function commands.handback(session_id, word)
  local taken = those(session_id, function(info)
    return info.taken
  end)
  local found = meant(session_id, word, taken, "hand back which?", function(info)
    if info.taken then
      act.take(session_id, info.terminalId, false)
    else
      say(("%s is the agent's already."):format(act.name(info)))
    end
  end)
  if not found then
    say("you have taken no terminal over.")
  end
end

function commands.answer(session_id, _, words)
  local said = table.concat(vim.list_slice(words, 2), " ")
  local view = views.of_buffer(vim.api.nvim_get_current_buf())
  local here = view and info_of(view)
  if here and shown.is_waiting(here) then
    act.answer(session_id, here, said ~= "" and said or nil)
  else
    act.answer_any(session_id, said ~= "" and said or nil)
  end
end

function commands.jobs(session_id)
  require("azimuth.jobs").open(session_id)
end

function commands.terminal(session_id, word, words)
  if word == "kill" then
    commands.kill(session_id, words[3])
  elseif word == "close" then
    for _, view in ipairs(views.all()) do
      if view.session_id == session_id and (not words[3] or words[3] == act.name(info_of(view) or { kind = "shell" })) then
        for _, window in ipairs(vim.fn.win_findbuf(view.bufnr)) do
          vim.api.nvim_win_close(window, false)
        end
      end
    end
  elseif word == nil or word == "shell" then
    M.open(session_id, { focus = not words.bang })
  else
    meant(session_id, word, {}, "open which?", function(info)
      M.open(session_id, { terminal = info, focus = not words.bang })
    end)
  end
end

--- Runs `:Azimuth terminal` and the other commands for terminals.
---@param words table The words, and in the field `bang` whether the cursor stays.
function M.command(words)
  client.ensure_session(function(err, session_id)
    if err then
      say(err.message, vim.log.levels.ERROR)
      return
    end
    commands[words[1]](session_id, words[2], words)
  end)
end

-- Events ------------------------------------------------------------------------------------------------------------

--- True if the user sees what a terminal asks: in the chat, or in the terminal itself.
---@param session_id azimuth.SessionId
---@param info azimuth.TerminalInfo
---@return boolean
local function is_seen(session_id, info)
  local view = views.get(session_id, info)
  if view and vim.fn.bufwinid(view.bufnr) >= 0 then
    return true
  end
  local chat = package.loaded["azimuth.chat"]
  return type(chat) == "table" and session_id == client.session() and chat.is_open()
end

--- The waits that were told, so that each is told once.
---@type table<string, boolean>
local told = {}

---@param session_id azimuth.SessionId
---@param info azimuth.TerminalInfo
local function tell_of_wait(session_id, info)
  local key = ("%s %s"):format(session_id, info.terminalId)
  if not shown.is_waiting(info) then
    told[key] = nil
  elseif not told[key] then
    told[key] = true
    if not is_seen(session_id, info) then
      local prompt = shown.prompt(info.waiting, 120)
      local how = require("azimuth.mappings").shown("answer")
      say(
        ("%s %s%s. %s answers."):format(act.described(info), shown.waits(info.waiting), prompt ~= "" and ": " .. prompt or "", how),
        vim.log.levels.WARN
      )
    end
  end
end

client.on_notification(protocol.notifications.terminal_output, views.output)
for _, type in ipairs({ "terminalStarted", "terminalEnded", "sessionOpened" }) do
  client.on(type, dress_all)
end
client.on("terminalChanged", function(session_id, event)
  tell_of_wait(session_id, event.terminal)
  local view = views.get(session_id, event.terminal)
  if view then
    view.terminal_id = view.terminal_id or event.terminal.terminalId
    dress(view)
  end
end)
client.on("sessionOpened", function(session_id)
  -- A terminal that the log tells of may have ended with an earlier host of the session.
  local state = client.state(session_id)
  local asked = vim.deepcopy(state.terminal_order)
  client.request(protocol.requests.terminal_list, { sessionId = session_id }, function(err, result)
    if not err then
      fold.take(state, result.terminals, asked)
      dress_all()
    end
  end)
end)
client.on("sessionSelected", function(session_id)
  -- A session that was left and is opened again sends no more bytes by itself.
  for _, view in ipairs(views.all()) do
    if view.session_id == session_id then
      view.follows = false
      view:resume()
    end
  end
end)
client.on("terminalStarted", function(session_id, event)
  -- A shell that is just being started may have missed the size it was told.
  for _, view in ipairs(views.all()) do
    if view.session_id == session_id and (not view.terminal_id or view.terminal_id == event.terminalId) then
      view.size = nil
      view:resize()
    end
  end
end)
client.on("connection", function(_, event)
  for _, view in ipairs(views.all()) do
    view.follows = false
    if event.state == "ready" then
      view:resume(function()
        dress(view)
      end)
    end
  end
end)

local group = vim.api.nvim_create_augroup("azimuth.terminal", { clear = true })
vim.api.nvim_create_autocmd({ "WinResized", "VimResized", "BufWinEnter" }, {
  group = group,
  callback = vim.schedule_wrap(function()
    for _, view in ipairs(views.all()) do
      view:resume()
      view:resize()
      dress(view)
    end
  end),
})
vim.api.nvim_create_autocmd({ "TermEnter", "TermLeave" }, { group = group, callback = vim.schedule_wrap(dress_all) })

return M
