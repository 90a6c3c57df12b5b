--- A language server inside of the editor, to test with: `cmd` of a language client, made of functions. A test loads it in its
--- child, where it says itself what the server can and answers.

local M = {}

--- The messages that every server was told, by its name: `{ method, params }`.
---@type table<string, table[]>
M.told = {}

---@class FakeServer
---@field name string
---@field capabilities? table
---@field encoding? string
---@field root? string
---@field initialize? fun(go_on: fun()) Says when it answers `initialize`.
---@field answers? table<string, fun(params: table, answer: fun(err: any, result: any), server: FakeDispatchers): any> What is returned is the answer, unless it is nil.

---@class FakeDispatchers
---@field notify fun(method: string, params: table)
---@field crash fun()

--- Starts a server, and attaches a buffer to its client.
---@param server FakeServer
---@param bufnr? integer
---@return integer? client_id
function M.start(server, bufnr)
  return vim.lsp.start({ name = server.name, cmd = M.cmd(server), root_dir = server.root or vim.fn.getcwd() }, { bufnr = bufnr })
end

--- A server, as `cmd` of a client.
---@param server FakeServer
---@return function
function M.cmd(server)
  M.told[server.name] = M.told[server.name] or {}
  local told = M.told[server.name]
  return function(dispatchers)
    local has_ended, last = false, 0
    local mine = {}
    function mine.notify(method, params)
      vim.schedule(function()
        dispatchers.notification(method, params)
      end)
    end
    function mine.crash()
      has_ended = true
      dispatchers.on_exit(1, 0)
    end
    local rpc = {}
    function rpc.request(method, params, callback, seen)
      if has_ended then
        return false
      end
      last = last + 1
      local id = last
      table.insert(told, { method, params })
      local function answer(err, result)
        vim.schedule(function()
          if not has_ended then
            if seen then
              seen(id)
            end
            callback(err, result)
          end
        end)
      end
      if method == "initialize" then
        local capabilities = vim.tbl_extend("keep", server.capabilities or {}, {
          textDocumentSync = { openClose = true, change = 1 },
          positionEncoding = server.encoding,
        })
        local function go_on()
          answer(nil, { capabilities = capabilities, serverInfo = { name = server.name, version = "1.2" } })
        end
        if server.initialize then
          server.initialize(go_on)
        else
          go_on()
        end
      elseif method == "shutdown" then
        answer(nil, nil)
      elseif server.answers and server.answers[method] then
        local result = server.answers[method](params, answer, mine)
        if result ~= nil then
          answer(nil, result)
        end
      else
        answer({ code = -32601, message = "it has no " .. method }, nil)
      end
      return true, id
    end
    function rpc.notify(method, params)
      table.insert(told, { method, params })
      if server.answers and server.answers[method] then
        server.answers[method](params, function() end, mine)
      end
      if method == "exit" and not has_ended then
        has_ended = true
        dispatchers.on_exit(0, 0)
      end
      return not has_ended
    end
    function rpc.is_closing()
      return has_ended
    end
    function rpc.terminate()
      if not has_ended then
        has_ended = true
        dispatchers.on_exit(0, 15)
      end
    end
    return rpc
  end
end

return M
