--- The live terminal: the shell in which the agent's commands run, in a split, to be watched and typed into. It opens only
--- when the user asks for it.

local client = require("azimuth.client")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")
local views = require("azimuth.terminal.view")

local M = {}

--- The bar above the terminal: what runs or ran, and the keys.
---@param session_id string
---@param width integer
---@return string
local function bar(session_id, width)
  local state = client.state(session_id)
  local last = state and state.terminals[#state.terminals]
  local runs = last and not last.ended
  local keys = vim.api.nvim_get_mode().mode == "t" and "<C-\\><C-n> leaves" or runs and "i types · q closes" or "q closes"
  local shown = "shell"
  if last then
    local how = runs and "running" or last.exit_code and ("exit code %d"):format(last.exit_code) or "ended"
    shown = ("%s: %s"):format(how, vim.fn.strtrans(text.one_line(last.command)))
  end
  -- What is cut where it does not fit is the command's end, and never a key.
  local room = math.max(10, width - vim.fn.strdisplaywidth(keys) - 4)
  return (" %s%%=%s "):format(text.bar(text.shortened(shown, room)), text.bar(keys))
end

---@param view azimuth.terminal.View
local function dress(view)
  for _, window in ipairs(vim.fn.win_findbuf(view.bufnr)) do
    vim.wo[window][0].winbar = bar(view.session_id, vim.api.nvim_win_get_width(window))
  end
end

local function dress_all()
  for _, view in ipairs(views.all()) do
    dress(view)
  end
end

--- Opens the terminal of a session in a split. The cursor goes there only if it is told to.
---@param session_id string
---@param options? { focus?: boolean }
---@return azimuth.terminal.View
function M.open(session_id, options)
  local view = views.make(session_id)
  local window = vim.fn.bufwinid(view.bufnr)
  if window < 0 then
    window = vim.api.nvim_open_win(view.bufnr, false, {
      split = "below",
      win = -1,
      height = math.max(5, math.min(15, math.floor(vim.o.lines / 3))),
    })
    for option, value in pairs({ number = false, relativenumber = false, signcolumn = "no", winfixheight = true, spell = false }) do
      vim.wo[window][0][option] = value
    end
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = view.bufnr, desc = "Azimuth: close the terminal's window" })
    -- From its end on a terminal follows its output.
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(view.bufnr), 0 })
  end
  dress(view)
  view:follow()
  if options and options.focus then
    vim.api.nvim_set_current_win(window)
  end
  return view
end

---@param words table
---@param session_id string
local function run(words, session_id)
  local what = words[2]
  if what == "kill" then
    local view = views.make(session_id)
    if view.terminal_id then
      view:kill()
    else
      vim.notify("Azimuth: the terminal is not open; :Azimuth terminal opens it.", vim.log.levels.WARN)
    end
  elseif what == "close" then
    local view = views.get(session_id)
    for _, window in ipairs(view and vim.fn.win_findbuf(view.bufnr) or {}) do
      vim.api.nvim_win_close(window, false)
    end
  elseif what then
    vim.notify(("Azimuth: there is no :Azimuth terminal %s; there are kill and close."):format(what), vim.log.levels.ERROR)
  else
    M.open(session_id, { focus = not words.bang })
  end
end

--- Runs `:Azimuth terminal`.
---@param words table
function M.command(words)
  client.ensure_session(function(err, session_id)
    if err then
      vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
      return
    end
    run(words, session_id)
  end)
end

client.on_notification(protocol.notifications.terminal_output, function(params)
  local view = views.get(params.sessionId)
  if view then
    view:output(params)
  end
end)
for _, type in ipairs({ "terminalStarted", "terminalEnded", "sessionOpened" }) do
  client.on(type, dress_all)
end
client.on("sessionSelected", function(session_id)
  -- A session that was left and is opened again sends no more bytes by itself.
  local view = views.get(session_id)
  if view then
    view:follow()
  end
end)
client.on("terminalStarted", function(session_id)
  -- A shell that is just being started may have missed the size it was told.
  local view = views.get(session_id)
  if view then
    view.size = nil
    view:resize()
  end
end)
client.on("connection", function(_, event)
  if event.state == "ready" then
    for _, view in ipairs(views.all()) do
      view:follow()
    end
  end
end)

local group = vim.api.nvim_create_augroup("azimuth.terminal", { clear = true })
vim.api.nvim_create_autocmd({ "WinResized", "VimResized", "BufWinEnter" }, {
  group = group,
  callback = vim.schedule_wrap(function()
    for _, view in ipairs(views.all()) do
      view:resize()
      dress(view)
    end
  end),
})
vim.api.nvim_create_autocmd({ "TermEnter", "TermLeave" }, { group = group, callback = vim.schedule_wrap(dress_all) })

return M
