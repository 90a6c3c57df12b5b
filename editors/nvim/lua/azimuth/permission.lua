--- Questions for permission: a small window in the corner, and keys.
---
--- The window never takes the cursor by itself: what the user is typing, in insert or in normal mode, must not become
--- an answer. One key goes there; in the transcript the keys answer without going anywhere.
---
--- Nor does a key that was meant for one question answer the next: a question takes no key until it has stood for
--- `READING`, and a key that comes sooner, such as of one that is held down, begins that time anew.

local client = require("azimuth.client")
local config = require("azimuth.config")
local form = require("azimuth.form")
local protocol = require("azimuth.generated.protocol")
local render = require("azimuth.render")
local text = require("azimuth.text")
require("azimuth.highlights")

local M = {}

--- How long a question stands before a key answers it, in milliseconds: longer than a held key waits before it repeats,
--- which is at most 660 where nobody set it otherwise, and than between the presses of a double tap.
local READING = 750

local namespace = vim.api.nvim_create_namespace("azimuth.permission")

---@class azimuth.Question
---@field session_id string
---@field request azimuth.PermissionRequest

---@type integer?
local window = nil
---@type string? The question that the window shows.
local shown = nil
--- Questions whose window the user has closed; they stand in the transcript.
---@type table<string, boolean>
local dismissed = {}
--- Where the cursor was before it went to the window.
---@type integer?
local came_from = nil
--- Since when each question is the one that a key would answer, or when a key came too soon for it, in milliseconds.
---@type table<string, integer>
local stands_since = {}
---@type string? The oldest open question, which a key in the transcript answers.
local oldest = nil

--- The open questions of all sessions, those of the current one first.
---@return azimuth.Question[]
function M.open()
  local questions = {}
  local current = client.session()
  local ids = client.sessions()
  table.sort(ids, function(a, b)
    if (a == current) ~= (b == current) then
      return a == current
    end
    return a < b
  end)
  for _, session_id in ipairs(ids) do
    for _, request in ipairs(client.state(session_id).questions) do
      table.insert(questions, { session_id = session_id, request = request })
    end
  end
  return questions
end

--- True if a key answers a question by now.
---@param permission_id string
---@return boolean
function M.takes_keys(permission_id)
  local since = stands_since[permission_id]
  return since ~= nil and vim.uv.now() - since >= READING
end

---@param permission_id string
local function begin_reading(permission_id)
  vim.uv.update_time()
  stands_since[permission_id] = vim.uv.now()
end

--- Notes which questions are open, and which of them is the oldest.
local function note_questions()
  local open = {}
  for _, question in ipairs(M.open()) do
    local id = question.request.permissionId
    open[id] = true
    if not stands_since[id] then
      begin_reading(id)
    end
  end
  form.keep(open)
  for id in pairs(stands_since) do
    stands_since[id] = open[id] and stands_since[id]
  end
  local first = M.open()[1]
  local id = first and first.request.permissionId
  if id and id ~= oldest then
    begin_reading(id)
  end
  oldest = id
end

---@param question azimuth.Question
---@param option azimuth.PermissionOption
---@param message? string
function M.answer(question, option, message)
  client.request(protocol.requests.permission_answer, {
    sessionId = question.session_id,
    permissionId = question.request.permissionId,
    optionId = option.optionId,
    message = message,
    answers = option.kind == "allow_once" and form.answers(question.request) or nil,
  }, function(err, result)
    if err then
      vim.notify("Azimuth: the answer was not taken: " .. err.message, vim.log.levels.ERROR)
    elseif not result.accepted then
      vim.notify("Azimuth: that question had already been answered.")
    end
  end)
end

--- Answers by a key. False if the question has no such key.
---@param question azimuth.Question
---@param key string
---@return boolean
function M.answer_key(question, key)
  for _, choice in ipairs(render.keys(question.request.options)) do
    if choice.key == key then
      M.answer(question, choice.option)
      return true
    end
  end
  return false
end

--- Rejects with a word to the model.
---@param question azimuth.Question
local function reject_with_word(question)
  for _, option in ipairs(question.request.options) do
    if option.kind == "reject_once" then
      vim.ui.input({ prompt = "Azimuth: rejected; tell the model why: " }, function(said)
        if said then
          M.answer(question, option, said ~= "" and said or nil)
        end
      end)
      return
    end
  end
end

--- Maps the keys that answer, for a buffer whose text is not to be changed.
---@param bufnr integer
---@param which fun(): string? The question that is meant; without one, the oldest.
---@param otherwise? fun(key: string): string? What a digit comes to that answers nothing, if not to a count.
function M.set_keys(bufnr, which, otherwise)
  --- The question that is meant, unless a key comes too soon for it.
  local function find()
    local wanted = which()
    for _, question in ipairs(M.open()) do
      local id = question.request.permissionId
      if wanted == nil or id == wanted then
        if M.takes_keys(id) then
          return question
        end
        begin_reading(id)
        vim.notify("Azimuth: this question has only just come up. Read it, then press the key again.")
        return nil
      end
    end
  end
  local keys = { "a", "S", "A", "r", "R" }
  for digit = 1, 9 do
    table.insert(keys, tostring(digit))
  end
  for _, key in ipairs(keys) do
    local digit = key:match("%d")
    vim.keymap.set("n", key, function()
      local question = find()
      local found = question and vim.tbl_contains(render.keys(question.request.options), function(choice)
        return choice.key == key
      end, { predicate = true })
      if not question or not found then
        return digit and (otherwise and otherwise(key) or key) or ""
      end
      vim.schedule(function()
        M.answer_key(question, key)
      end)
      return ""
    end, { buffer = bufnr, nowait = true, expr = true, desc = "Azimuth: answer the question" })
  end
  vim.keymap.set("n", "m", function()
    local question = find()
    if question then
      reject_with_word(question)
    end
  end, { buffer = bufnr, nowait = true, desc = "Azimuth: reject, and say why" })
end

local function close()
  local here = window and vim.api.nvim_get_current_win() == window
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
  if here and came_from and vim.api.nvim_win_is_valid(came_from) then
    vim.api.nvim_set_current_win(came_from)
  end
  window, shown = nil, nil
end

---@type table<azimuth.PermissionAbout, string>
local titles = { outside = "Azimuth asks: outside the sandbox", trust = "Azimuth asks: trust", budget = "Azimuth asks: budget" }

---@param request azimuth.PermissionRequest
---@param more integer How many others wait.
---@return string
local function title(request, more)
  local asks = titles[request.about] or "Azimuth asks"
  return more > 0 and (" %s, and %d more "):format(asks, more) or (" %s "):format(asks)
end

--- Shows a question's buffer in the window, which is opened if there is none.
---@param bufnr integer
---@param shown_lines string[]
---@param caption string
---@param keys string[] What its keys do.
---@param host? integer The window over whose end it is; without one, it is in the corner of the editor.
---@return boolean # Whether all of it is to be seen.
local function place(bufnr, shown_lines, caption, keys, host)
  local columns = host and vim.api.nvim_win_get_width(host) or vim.o.columns
  local lines = host and vim.fn.winheight(host) or vim.o.lines - 4
  local widest = 30
  for _, line in ipairs(shown_lines) do
    widest = math.max(widest, vim.fn.strdisplaywidth(line))
  end
  local width = math.min(widest + 1, math.max(columns - 2, 20), 90)
  local key = require("azimuth.mappings").shown("permission")
  local settings = {
    relative = host and "win" or "editor",
    win = host,
    anchor = host and "SE" or "NE",
    row = host and lines or 1,
    col = columns,
    width = width,
    height = math.max(1, math.min(#shown_lines, lines - 2)),
    border = "rounded",
    style = "minimal",
    focusable = true,
    zindex = 60,
    title = caption,
    footer = text.fit(vim.list_extend({ key .. " goes here" }, keys), width),
  }
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_set_buf(window, bufnr)
    vim.api.nvim_win_set_config(window, settings)
  else
    settings.noautocmd = true
    window = vim.api.nvim_open_win(bufnr, false, settings)
  end
  for _, option in ipairs({ "wrap", "linebreak", "breakindent" }) do
    vim.api.nvim_set_option_value(option, true, { scope = "local", win = window })
  end
  -- Only the window itself knows how its lines wrap.
  local height = vim.api.nvim_win_text_height(window, {}).all
  vim.api.nvim_win_set_config(window, { height = math.max(1, math.min(height, lines - 2)) })
  return height <= lines - 2
end

--- Puts lines with their looks into a buffer, in place of its own.
---@param bufnr integer
---@param into azimuth.Block
local function fill(bufnr, into)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, into.lines)
  for _, mark in ipairs(into.marks) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, mark.row, mark.col, {
      end_col = mark.end_col or #into.lines[mark.row + 1],
      hl_group = mark.group,
    })
  end
  vim.bo[bufnr].modifiable = false
end

--- The use of each line of the form in the window.
---@type table<integer, azimuth.form.Target>
local targets = {}

---@param bufnr integer
---@param request azimuth.PermissionRequest
---@param above string[] The lines above the form.
---@return azimuth.Block
local function draw_form(bufnr, request, above)
  local into = { lines = vim.deepcopy(above), marks = {} }
  targets = form.draw(into, request)
  table.insert(into.lines, "")
  for _, choice in ipairs(render.keys(request.options)) do
    local words = choice.option.kind == "allow_once" and "Send" or choice.option.name
    table.insert(into.lines, ("[%s] %s"):format(choice.key, words))
    table.insert(into.marks, { row = #into.lines - 1, col = 0, end_col = #choice.key + 2, group = "AzimuthKey" })
  end
  fill(bufnr, into)
  return into
end

--- Maps the keys that fill a form in: they go from option to option and choose.
---@param bufnr integer
---@param request azimuth.PermissionRequest
---@param redraw fun()
local function set_form_keys(bufnr, request, redraw)
  local function map(keys, act, desc)
    for _, key in ipairs(keys) do
      vim.keymap.set("n", key, act, { buffer = bufnr, nowait = true, desc = "Azimuth: " .. desc })
    end
  end
  ---@param step integer
  local function go(step)
    local line, last = vim.fn.line(".") + step, vim.fn.line("$")
    while line >= 1 and line <= last do
      if targets[line] then
        vim.api.nvim_win_set_cursor(0, { line, 0 })
        return
      end
      line = line + step
    end
  end
  map({ "<Tab>", "<Down>", "j" }, function()
    go(1)
  end, "the next option")
  map({ "<S-Tab>", "<Up>", "k" }, function()
    go(-1)
  end, "the option before")
  map({ "<Space>", "<CR>" }, function()
    local target = targets[vim.fn.line(".")]
    if not target then
      return go(1)
    elseif target.option then
      form.toggle(request, target)
      return redraw()
    end
    local question = request.form.questions[target.question]
    vim.ui.input({ prompt = "Azimuth: " .. text.one_line(question.header) .. ": ", default = form.words(request, target) }, function(words)
      if words and vim.api.nvim_buf_is_valid(bufnr) then
        form.write(request, target, words)
        redraw()
      end
    end)
  end, "choose")
end

---@param question azimuth.Question
---@param more integer How many others wait.
local function show(question, more)
  local into = { lines = {}, marks = {} }
  if question.session_id ~= client.session() then
    table.insert(into.lines, "In the session: " .. text.one_line(client.state(question.session_id).title, 80))
  end
  local request = question.request
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].modeline = false
  if request.form then
    local lines = into.lines
    into = draw_form(bufnr, request, lines)
    set_form_keys(bufnr, request, function()
      draw_form(bufnr, request, lines)
    end)
  else
    targets = {}
    render.question(into, request, true)
    fill(bufnr, into)
  end
  -- Over the transcript, whose end says the same, it hides neither the code nor the chat's title.
  local chat = require("azimuth.chat").window()
  local host = chat and vim.api.nvim_win_get_height(chat) >= 12 and chat or nil
  local keys = request.form and { "Space chooses", "a sends", "q puts it away" } or { "q puts it away", "m rejects with a message" }
  local fits = place(bufnr, into.lines, title(request, more), keys, host)
  if host and not fits then
    -- An answer that cannot be seen cannot be chosen, so it takes what room the editor has.
    place(bufnr, into.lines, title(request, more), keys)
  end
  vim.wo[window].cursorline = request.form ~= nil
  local id = request.permissionId
  if shown ~= id then
    begin_reading(id)
  end
  shown = id
  M.set_keys(bufnr, function()
    return id
  end)
  for _, quit in ipairs({ "q", "<Esc>" }) do
    vim.keymap.set("n", quit, function()
      dismissed[id] = true
      M.refresh()
    end, { buffer = bufnr, nowait = true, desc = "Azimuth: put the question away; it is not answered" })
  end
end

--- Shows the oldest question, or nothing if none is open.
function M.refresh()
  local waiting = vim.tbl_filter(function(question)
    return not dismissed[question.request.permissionId]
  end, M.open())
  local first = waiting[1]
  if not first or not config.values.permission.float then
    close()
    return
  end
  if shown ~= first.request.permissionId or not (window and vim.api.nvim_win_is_valid(window)) then
    show(first, #waiting - 1)
  elseif #waiting > 1 then
    vim.api.nvim_win_set_config(window, { title = title(first.request, #waiting - 1) })
  end
end

--- Goes to the question's window; where it was put away it comes back.
function M.focus()
  dismissed = {}
  M.refresh()
  if window and vim.api.nvim_win_is_valid(window) then
    vim.cmd.stopinsert()
    came_from = vim.api.nvim_get_current_win()
    vim.api.nvim_set_current_win(window)
    local first = not targets[vim.fn.line(".")] and vim.tbl_keys(targets) or {}
    if #first > 0 then
      vim.api.nvim_win_set_cursor(window, { math.min(unpack(first)), 0 })
    end
  else
    vim.notify("Azimuth: no question is open.")
  end
end

-- A window cannot be opened while a command line or a prompt for a key is on the screen.
local function refresh_soon()
  vim.schedule(function()
    local ok, problem = pcall(M.refresh)
    if not ok then
      vim.notify("Azimuth: the question's window could not be opened; it is in the transcript. " .. problem, vim.log.levels.WARN)
    end
  end)
end

for _, event in ipairs({ "permissionAsked", "permissionAnswered", "sessionOpened", "sessionSelected", "turnEnded" }) do
  client.on(event, function()
    note_questions()
    refresh_soon()
  end)
end
note_questions()
vim.api.nvim_create_autocmd({ "VimResized", "TabEnter" }, {
  group = vim.api.nvim_create_augroup("azimuth.permission", { clear = true }),
  callback = function()
    -- A float lives in one tab page; the question goes where the user is.
    if window then
      close()
      refresh_soon()
    end
  end,
})

return M
