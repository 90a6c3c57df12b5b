--- The editor's language clients: who they are, and asking them without holding up the editor.

local M = {}

local is_011 = vim.fn.has("nvim-0.11") == 1

--- How often a wait looks whether it is over, in milliseconds. What ends it mostly wakes it at once.
local TICK = 50
--- A request that was overtaken by a change of the text is sent again after this many milliseconds, this often.
local AGAIN = 100
local MAX_TRIES = 10
local codes = vim.lsp.protocol.ErrorCodes
local OVERTAKEN = { [codes.ContentModified] = true, [codes.ServerCancelled] = true }

--- A time to compare with, in milliseconds.
---@return number
function M.now()
  return vim.uv.hrtime() / 1e6
end

-- Waiting -----------------------------------------------------------------------------------------------------------

---@class azimuth.lang.Waiter
---@field wake fun()
---@field wait fun(deadline: number, is_over: fun(): boolean)

--- Something to wait with, in a coroutine.
---@return azimuth.lang.Waiter
function M.waiter()
  local asker = assert(coroutine.running())
  local sleeps = false
  local function wake()
    if sleeps then
      sleeps = false
      assert(coroutine.resume(asker))
    end
  end
  local function wait(deadline, is_over)
    if is_over() or M.now() >= deadline then
      return
    end
    local timer = assert(vim.uv.new_timer())
    timer:start(TICK, TICK, vim.schedule_wrap(wake))
    local ok, problem
    repeat
      sleeps = true
      coroutine.yield()
      ok, problem = pcall(is_over)
    until not ok or problem or M.now() >= deadline
    timer:stop()
    timer:close()
    assert(ok, problem)
  end
  return { wake = wake, wait = wait }
end

-- Who they are ------------------------------------------------------------------------------------------------------

---@class azimuth.lang.Clients
---@field ready vim.lsp.Client[] Those that can be asked, the oldest first.
---@field starting vim.lsp.Client[] Those that will be.

--- The language clients but ours.
---@param own integer The id of our client.
---@param bufnr? integer Only those that have this buffer.
---@return azimuth.lang.Clients
function M.others(own, bufnr)
  local found = { ready = {}, starting = {} }
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = bufnr, _uninitialized = true })) do
    if client.id ~= own and M.is_other(client) and not M.has_ended(client) then
      table.insert(client.initialized and found.ready or found.starting, client)
    end
  end
  for _, list in pairs(found) do
    table.sort(list, function(a, b)
      return a.id < b.id
    end)
  end
  return found
end

--- True if a client is of another server than ours.
---@param client vim.lsp.Client
---@return boolean
function M.is_other(client)
  return client.name ~= "azimuth"
end

---@param client vim.lsp.Client
---@return azimuth.LangServer
function M.server(client)
  local info = type(client.server_info) == "table" and client.server_info or {}
  local function string(value)
    return type(value) == "string" and value ~= "" and value or nil
  end
  return { name = string(info.name) or client.name, version = string(info.version) }
end

---@param client vim.lsp.Client
---@return boolean
function M.has_ended(client)
  if is_011 then
    return client:is_stopped()
  end
  return client.is_stopped()
end

---@param client vim.lsp.Client
---@param method string
---@param bufnr? integer
---@return boolean
function M.supports(client, method, bufnr)
  if is_011 then
    return client:supports_method(method, bufnr)
  end
  return client.supports_method(method, { bufnr = bufnr })
end

--- Returns what a server says that it is busy with, if it is. Much of what it knows may be missing then.
---@param client vim.lsp.Client
---@return string?
function M.busy_with(client)
  local _, title = next(client.progress and client.progress.pending or {})
  return title and tostring(title) or nil
end

-- Asking ------------------------------------------------------------------------------------------------------------

---@class azimuth.lang.Request
---@field client vim.lsp.Client
---@field method string
---@field params table
---@field bufnr? integer

---@class azimuth.lang.Reply
---@field client vim.lsp.Client
---@field request? azimuth.lang.Request What it was asked.
---@field result? any Nil for `null`.
---@field problem? "failed"|"crashed"|"timedOut"
---@field message? string

---@param client vim.lsp.Client
---@param id integer
local function cancel(client, id)
  if is_011 then
    client:cancel_request(id)
  else
    client.cancel_request(id)
  end
end

--- Tells a client all changes of its documents that it has not been told yet. A request does so for its own document alone.
---@param client vim.lsp.Client
function M.flush(client)
  local ok, tracking = pcall(require, "vim.lsp._changetracking")
  if ok and tracking.flush then
    pcall(tracking.flush, client)
  end
end

--- Waits, in a coroutine, until Neovim has told of all that was sent until now: its `LspNotify` comes after the sending.
---@param deadline number
function M.hear_what_was_sent(deadline)
  local has_heard = false
  local waiter = M.waiter()
  vim.schedule(function()
    has_heard = true
    waiter.wake()
  end)
  waiter.wait(deadline, function()
    return has_heard
  end)
end

--- Sends requests all at once and waits for their answers, in a coroutine. What has no answer at the deadline is cancelled.
---@param requests azimuth.lang.Request[]
---@param deadline number
---@return azimuth.lang.Reply[] replies In the order of the requests.
function M.ask(requests, deadline)
  local waiter = M.waiter()
  ---@type azimuth.lang.Reply[], table<integer, integer>
  local replies, ids = {}, {}
  local open = #requests

  ---@param at integer
  ---@param reply table
  local function settle(at, reply)
    if not replies[at] then
      reply.client, reply.request = requests[at].client, requests[at]
      replies[at], ids[at], open = reply, nil, open - 1
      waiter.wake()
    end
  end

  local function send(at, tries)
    local request = requests[at]
    local client = request.client
    local function answered(err, result)
      ids[at] = nil
      if err and OVERTAKEN[err.code] and tries < MAX_TRIES then
        vim.defer_fn(function()
          if not replies[at] then
            send(at, tries + 1)
          end
        end, AGAIN)
      elseif err then
        settle(at, { problem = "failed", message = tostring(err.message or err) })
      else
        settle(at, { result = result ~= vim.NIL and result or nil })
      end
    end
    local sent, id
    if is_011 then
      sent, id = client:request(request.method, request.params, answered, request.bufnr)
    else
      sent, id = client.request(request.method, request.params, answered, request.bufnr)
    end
    if not sent then
      settle(at, { problem = "crashed", message = "it has ended" })
    elseif not replies[at] then
      ids[at] = id
    end
  end

  for at in ipairs(requests) do
    send(at, 1)
  end
  waiter.wait(deadline, function()
    -- A client that ends never answers.
    for at, request in ipairs(requests) do
      if not replies[at] and M.has_ended(request.client) then
        settle(at, { problem = "crashed", message = "it ended while it was asked" })
      end
    end
    return open == 0
  end)
  for at, request in ipairs(requests) do
    if not replies[at] then
      local id = ids[at]
      settle(at, { problem = "timedOut", message = "it did not answer in time" })
      if id then
        cancel(request.client, id)
      end
    end
  end
  return replies
end

return M
