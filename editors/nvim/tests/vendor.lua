--- A vendor whose users sign in by a code, on the loopback: it lets the code in when it is told to.

local M = {}

--- The code that the user types.
M.CODE = "ABCD-EFGH"

--- The key that it does not know.
M.WRONG = "sk-wrong-0123456789"

---@class Vendor
---@field url string
---@field approved? boolean Whether the code is let in.
---@field revoked integer How often a token was revoked.
local Vendor = {}
Vendor.__index = Vendor

---@param vendor Vendor
---@param path string
---@param key? string The key of the request.
---@return string status
---@return table answer
local function answer(vendor, path, key)
  if path == "/device" then
    return "200 OK", { device_code = "d", user_code = M.CODE, verification_uri = vendor.url .. "/page", interval = 1, expires_in = 600 }
  elseif path == "/token" and vendor.approved then
    return "200 OK", { access_token = "token-of-nobody", token_type = "Bearer", expires_in = 3600, refresh_token = "refresh-of-nobody" }
  elseif path == "/token" then
    return "400 Bad Request", { error = "authorization_pending" }
  elseif path == "/revoke" then
    vendor.revoked = vendor.revoked + 1
    return "200 OK", vim.empty_dict()
  elseif path == "/v1/models" and (not key or key == M.WRONG) then
    return "401 Unauthorized", { error = { message = "this key is unknown." } }
  elseif path == "/v1/models" then
    return "200 OK", { data = { { id = "gate-1" } } }
  end
  return "404 Not Found", vim.empty_dict()
end

---@return Vendor
function M.start()
  local server = assert(vim.uv.new_tcp())
  assert(server:bind("127.0.0.1", 0))
  local vendor = setmetatable({ revoked = 0 }, Vendor)
  vendor.url = ("http://127.0.0.1:%d"):format(server:getsockname().port)
  server:listen(16, function()
    local socket = assert(vim.uv.new_tcp())
    server:accept(socket)
    local received = ""
    socket:read_start(function(err, chunk)
      if err or not chunk then
        if not socket:is_closing() then
          socket:close()
        end
        return
      end
      received = received .. chunk
      local head, body = received:match("^(.-)\r\n\r\n(.*)$")
      if head and #body >= (tonumber(head:lower():match("content%-length: (%d+)")) or 0) then
        received = ""
        local status, said = answer(vendor, head:match("^%u+ ([^ ?]+)"), head:match("[Bb]earer ([^\r]+)"))
        local json = vim.json.encode(said)
        local reply = "HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
        socket:write(reply:format(status, #json, json))
      end
    end)
  end)
  return vendor
end

--- The provider `gateway`, for the server's configuration.
---@return string
function Vendor:configuration()
  local lines = {
    "[providers.gateway]", 'base_url = "%s/v1"', 'wire = "openai-chat"', "[providers.gateway.sign_in]", 'device_url = "%s/device"',
    'token_url = "%s/token"', 'revoke_url = "%s/revoke"', 'client_id = "azimuth"', "",
  }
  return (table.concat(lines, "\n"):gsub("%%s", self.url))
end

return M
