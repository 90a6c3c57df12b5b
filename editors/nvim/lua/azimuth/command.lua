--- `:Azimuth`: its subcommands and their completion.

local M = {}

---@class azimuth.Arguments
---@field words string[] What follows the subcommand.
---@field rest string The same as one text.
---@field first? integer The range's first line, if there is one.
---@field last? integer
---@field bang boolean

---@class azimuth.Subcommand
---@field run fun(args: azimuth.Arguments, name: string)
---@field complete? string[]|fun(words: string[]): string[] What can follow it.

---@param module string
---@return fun(args: azimuth.Arguments, name: string)
local function delegate(module)
  return function(args, name)
    local words = vim.list_extend({ name }, args.words)
    words.first, words.last, words.bang = args.first, args.last, args.bang
    require(module).command(words)
  end
end

local review = delegate("azimuth.review")
local terminal = delegate("azimuth.terminal")
local undo = delegate("azimuth.undo")

--- Returns a function that lists the words that can follow a command for terminals.
---@param more? string[]
---@return fun(): string[]
local function terminals(more)
  return function()
    local words = vim.list_slice(more or {})
    -- Completion does not start the server.
    local act = package.loaded["azimuth.terminal.act"]
    for _, name in ipairs(type(act) == "table" and act.names() or {}) do
      if not vim.tbl_contains(words, name) then
        table.insert(words, name)
      end
    end
    return words
  end
end

--- The selected lines as a part of a prompt: a mention, or their text where they are of no file.
---@param first integer
---@param last integer
---@return string
local function attachment(first, last)
  local name = vim.api.nvim_buf_get_name(0)
  local lines = vim.api.nvim_buf_get_lines(0, first - 1, last, false)
  local filetype = vim.bo.filetype
  local is_file = vim.bo.buftype == "" and name ~= "" and vim.uv.fs_stat(name) ~= nil
  if is_file then
    return require("azimuth.input").mention(vim.uri_from_fname(name), first, last) .. " "
  end
  return ("\n```%s\n%s\n```\n"):format(filetype, table.concat(lines, "\n"))
end

---@type table<string, azimuth.Subcommand>
M.subcommands = {
  chat = {
    run = function()
      require("azimuth.chat").toggle()
    end,
  },
  new = {
    run = function()
      require("azimuth.client").new_session(nil, function(err)
        if err then
          vim.notify("Azimuth: " .. err.message, vim.log.levels.ERROR)
          return
        end
        require("azimuth.chat").open()
        require("azimuth.chat").focus_input()
      end)
    end,
  },
  ask = {
    run = function(args)
      local chat, input = require("azimuth.chat"), require("azimuth.input")
      local attached = args.first and attachment(args.first, args.last) or ""
      chat.open()
      if args.rest ~= "" then
        -- A draft in the input stays there.
        input.send_text(attached .. args.rest)
      else
        input.append(attached)
        chat.focus_input()
      end
    end,
  },
  steer = {
    run = function(args)
      require("azimuth.input").send_text(args.rest, "steer")
    end,
  },
  now = {
    run = function(args)
      require("azimuth.input").send_text(args.rest, "now")
    end,
  },
  plan = {
    run = function()
      require("azimuth.plan").open()
    end,
  },
  queue = {
    run = function(args)
      if args.rest == "" then
        require("azimuth.turn").choose_waiting(function(said)
          require("azimuth.chat").open()
          require("azimuth.input").append(said)
        end)
      else
        require("azimuth.input").send_text(args.rest, "queue")
      end
    end,
  },
  cancel = {
    run = function()
      if not require("azimuth.change").cancel() then
        require("azimuth.turn").cancel()
      end
    end,
  },
  retry = {
    run = function()
      require("azimuth.turn").retry()
    end,
  },
  change = { run = delegate("azimuth.change") },
  promote = {
    run = function()
      require("azimuth.change").promote()
    end,
  },
  continue = {
    run = function()
      require("azimuth.turn").continue()
    end,
  },
  sessions = {
    run = function(args)
      require("azimuth.pick").session(args.bang or args.words[1] == "everywhere")
    end,
    complete = { "everywhere" },
  },
  search = {
    run = function(args)
      require("azimuth.found").search(args.rest)
    end,
  },
  prompts = {
    run = function(args)
      require("azimuth.found").prompts(args.rest, args.bang)
    end,
  },
  export = {
    run = function(args)
      -- The path is the rest of the line, with what spaces there are in it.
      local path = vim.trim((args.rest:gsub("^%s*%S+", "", 1)))
      require("azimuth.keep").export(args.words[1], path ~= "" and path or nil, args.bang)
    end,
    complete = { "html", "md", "jsonl" },
  },
  copy = {
    run = function()
      require("azimuth.keep").copy()
    end,
  },
  rename = {
    run = function(args)
      local client = require("azimuth.client")
      local session_id = client.session()
      if session_id and args.rest ~= "" then
        client.request(require("azimuth.generated.protocol").requests.session_rename, { sessionId = session_id, title = args.rest })
      else
        vim.notify("Azimuth: open a session and give its new title: :Azimuth rename {title}", vim.log.levels.WARN)
      end
    end,
  },
  delete = {
    run = function()
      require("azimuth.pick").delete()
    end,
  },
  models = {
    run = function(args)
      require("azimuth.pick").model(args.words[1], args.bang)
    end,
  },
  next_model = {
    run = function()
      require("azimuth.pick").next_model()
    end,
  },
  thinking = {
    run = function(args)
      require("azimuth.pick").thinking(args.words[1])
    end,
    complete = { "next", "off", "minimal", "low", "medium", "high", "xhigh", "max", "default" },
  },
  mode = {
    run = function(args)
      require("azimuth.pick").mode(args.words[1])
    end,
    complete = vim.tbl_map(function(item)
      return item.name
    end, require("azimuth.generated.modes")),
  },
  permission = {
    run = function()
      require("azimuth.permission").focus()
    end,
  },
  permissions = { run = delegate("azimuth.permissions") },
  trust = { run = delegate("azimuth.trust"), complete = { "yes", "no" } },
  accounts = { run = delegate("azimuth.accounts"), complete = { "login", "keep", "logout" } },
  costs = {
    run = function()
      require("azimuth.costs").open()
    end,
  },
  status = {
    run = function()
      require("azimuth.status").show()
    end,
  },
  key = {
    run = function()
      require("azimuth.keys").ask()
    end,
  },
  restart = {
    run = function()
      require("azimuth.client").restart()
    end,
  },
  review = { run = review },
  accept = { run = review, complete = { "hunk", "file", "all" } },
  reject = { run = review, complete = { "hunk", "file", "all" } },
  keep = { run = review, complete = { "hunk", "file", "all" } },
  back = { run = review, complete = { "hunk", "file", "all" } },
  comment = { run = review },
  next = { run = review },
  prev = { run = review },
  diff = { run = review },
  hunks = { run = review },
  auto = { run = review, complete = { "on", "off", "project" } },
  servers = { run = delegate("azimuth.language_servers") },
  inline = { run = delegate("azimuth.inline"), complete = { "on", "off", "toggle", "snooze", "why", "counts" } },
  edit = {
    run = delegate("azimuth.inline.edits"),
    complete = function(words)
      local takes_all = words[2] == "accept" or words[2] == "reject"
      return takes_all and { "all" } or { "go", "accept", "reject", "next", "ask" }
    end,
  },
  compact = { run = delegate("azimuth.handover") },
  handover = { run = delegate("azimuth.handover"), complete = { "undo" } },
  follow = { run = delegate("azimuth.follow"), complete = { "on", "off" } },
  undo = { run = undo },
  redo = { run = undo },
  terminal = { run = terminal, complete = terminals({ "close", "kill", "shell" }) },
  jobs = { run = terminal },
  answer = { run = terminal },
  takeover = { run = terminal, complete = terminals({ "shell" }) },
  handback = { run = terminal, complete = terminals() },
  kill = { run = terminal, complete = terminals() },
  signal = { run = terminal, complete = terminals() },
}

--- Runs `:Azimuth`. Without a subcommand it opens or closes the chat.
---@param given table What `nvim_create_user_command` hands over.
function M.run(given)
  local name = given.fargs[1] or "chat"
  local subcommand = M.subcommands[name]
  if not subcommand then
    vim.notify(("Azimuth: there is no subcommand %q. :Azimuth <Tab> lists them."):format(name), vim.log.levels.ERROR)
    return
  end
  subcommand.run({
    words = vim.list_slice(given.fargs, 2),
    rest = vim.trim((given.args:gsub("^%s*%S+", "", 1))),
    first = given.range > 0 and given.line1 or nil,
    last = given.range > 0 and given.line2 or nil,
    bang = given.bang,
  }, name)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(vim.trim(line:gsub("^.-Azimuth!?", "", 1)), "%s+", { trimempty = true })
  local candidates
  if #words == 0 or (#words == 1 and lead ~= "") then
    candidates = vim.tbl_keys(M.subcommands)
    table.sort(candidates)
  else
    local subcommand = M.subcommands[words[1]]
    local complete = subcommand and subcommand.complete or {}
    candidates = type(complete) == "function" and complete(words) or complete
  end
  return vim.tbl_filter(function(candidate)
    return vim.startswith(candidate, lead)
  end, candidates)
end

return M
