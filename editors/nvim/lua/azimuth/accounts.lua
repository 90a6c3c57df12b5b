--- `:Azimuth accounts`: the accounts that Azimuth keeps, signing in and out, and where each key comes from.
---
--- All through `vim.ui.select` and `vim.ui.input`, which users replace by what they like. No key or token is in any of it.

local blocks = require("azimuth.render.block")
local client = require("azimuth.client")
local lists = require("azimuth.list")
local protocol = require("azimuth.generated.protocol")
local text = require("azimuth.text")

local M = {}

local requests = protocol.requests

--- A vendor's words on a key have no more bytes than this.
local MAX_WORDS = 1000

---@param message string
---@param level? integer
local function say(message, level)
  vim.notify("Azimuth: " .. message, level)
end

---@param err? azimuth.Error
---@return boolean
local function failed(err)
  if err then
    say(err.message, vim.log.levels.ERROR)
  end
  return err ~= nil
end

---@type table<azimuth.SignInWay, string>
local ways = {
  browser = "with the browser on this machine",
  device = "with a code that you type on any device",
  paste = "with a browser, whose last address you paste",
}

--- Opens a web page, and says so if that fails.
---@param url string
local function open_page(url)
  local _, problem = vim.ui.open(url)
  if problem then
    say(("no browser could be opened: %s. Open %s yourself."):format(problem, url), vim.log.levels.WARN)
  end
end

--- The content of the window while the user signs in.
---@param title string
---@param login azimuth.AuthLoginResult
---@return azimuth.Block
function M.waiting(title, login)
  local into = blocks.new()
  blocks.put(into, ("To sign in to %s, open this page in a browser:"):format(text.one_line(title)))
  blocks.put(into, "")
  blocks.put(into, text.one_line(login.url, 2000), "AzimuthUser")
  blocks.put(into, "")
  if login.userCode then
    blocks.put(into, "and enter this code:  " .. text.one_line(login.userCode))
    table.insert(into.marks, { row = #into.lines - 1, col = #"and enter this code:  ", group = "AzimuthKey" })
  else
    blocks.put(into, "If it ends at a page that it cannot show, press p and paste the address of that page.")
  end
  blocks.put(into, "")
  blocks.put(into, "Waiting for you to sign in…", "AzimuthDim")
  return into
end

--- Asks for the address that the browser ended at.
---@param login azimuth.AuthLoginResult
local function paste(login)
  vim.ui.input({ prompt = "The address that the browser ended at: " }, function(address)
    if address and vim.trim(address) ~= "" then
      client.request(requests.auth_paste, { loginId = login.loginId, address = vim.trim(address) }, failed)
    end
  end)
end

--- Shows the page, and waits until the user has signed in. Closing the window cancels it.
---@param title string
---@param login azimuth.AuthLoginResult
local function wait(title, login)
  local is_over = false
  local list
  local keys = {
    {
      key = "o",
      desc = "open the page",
      always = true,
      run = function()
        open_page(login.url)
      end,
    },
    {
      key = "y",
      desc = "copy",
      always = true,
      run = function()
        local what = login.userCode or login.url
        vim.fn.setreg('"', what)
        pcall(vim.fn.setreg, "+", what)
        say(login.userCode and "the code is copied." or "the address is copied.")
      end,
    },
  }
  local footer = { "q cancels", "o opens the page", login.userCode and "y copies the code" or "y copies the address" }
  if not login.userCode then
    table.insert(footer, "p pastes")
    table.insert(keys, {
      key = "p",
      desc = "paste the address",
      always = true,
      run = function()
        paste(login)
      end,
    })
  end
  list = lists.open({
    title = "Sign in to " .. text.one_line(title),
    footer = footer,
    wrap = true,
    draw = function()
      return M.waiting(title, login), {}
    end,
    keys = keys,
    closed = function()
      if not is_over then
        client.request(requests.auth_cancel, { loginId = login.loginId })
      end
    end,
  })
  client.request(requests.auth_wait, { loginId = login.loginId }, function(err, result)
    is_over = true
    list:close()
    if not failed(err) then
      local name = result.account.name and " as " .. text.one_line(result.account.name) or ""
      say(("signed in to %s%s."):format(text.one_line(title), name))
    end
  end)
  open_page(login.url)
end

--- The name for a new account: of a second one at a provider it is asked, since one of the same name is replaced.
---@param provider string
---@param accounts azimuth.Account[]
---@param go_on fun(label: string)
local function name_for(provider, accounts, go_on)
  local of_provider = vim.tbl_filter(function(account)
    return account.provider == provider
  end, accounts)
  if #of_provider == 0 then
    return go_on("default")
  end
  local prompt = "A name for the account (the same replaces it, another adds one): "
  vim.ui.input({ prompt = prompt, default = of_provider[1].label }, function(label)
    if label and vim.trim(label) ~= "" then
      go_on(vim.trim(label))
    end
  end)
end

--- Asks how to sign in, and does.
---@param list azimuth.AuthListResult
---@param provider? string Only to this one.
---@param label? string The account that is signed in to again.
local function sign_in(list, provider, label)
  ---@type { provider: azimuth.SignInProvider, way: azimuth.SignInWay }[]
  local items = {}
  for _, offered in ipairs(list.providers) do
    if not provider or offered.provider == provider then
      for _, way in ipairs(offered.ways) do
        table.insert(items, { provider = offered, way = way })
      end
    end
  end
  if #items == 0 then
    local what = provider and ("%s has no sign-in"):format(provider) or "no provider can be signed in to"
    say(what .. "; :Azimuth key stores a key.", vim.log.levels.WARN)
    return
  end
  vim.ui.select(items, {
    prompt = "Azimuth: sign in",
    kind = "azimuth.signin",
    format_item = function(item)
      return ("%s, %s"):format(text.one_line(item.provider.title), ways[item.way] or item.way)
    end,
  }, function(item)
    if not item then
      return
    end
    local function begin(name)
      local params = { provider = item.provider.provider, way = item.way, label = name }
      client.request(requests.auth_login, params, function(err, login)
        if not failed(err) then
          wait(item.provider.title, login)
        end
      end)
    end
    if label then
      begin(label)
    else
      name_for(item.provider.provider, list.accounts, begin)
    end
  end)
end

--- Signs out of an account, or forgets a key, after a question.
---@param provider string
---@param label? string
local function sign_out(provider, label)
  local what = label and ("%s at %s"):format(label, provider) or ("every account at %s"):format(provider)
  vim.ui.select({ "Keep it", "Sign out" }, { prompt = ("Azimuth: forget %s?"):format(text.one_line(what)) }, function(choice)
    if choice ~= "Sign out" then
      return
    end
    client.request(requests.auth_logout, { provider = provider, label = label }, function(err, result)
      if failed(err) then
        return
      end
      for _, removed in ipairs(result.removed) do
        if removed.notRevoked then
          local line = "the account %s is forgotten here, but %s was not told: %s. End it in your account there."
          say(line:format(removed.label, provider, removed.notRevoked), vim.log.levels.WARN)
        else
          say(("the account %s at %s is forgotten."):format(removed.label, provider))
        end
      end
    end)
  end)
end

--- The words on a key that was kept.
---@param provider string
---@param label string
---@param result azimuth.AuthKeepResult
---@return string
function M.kept(provider, label, result)
  local parts = { ("the key for %s is kept as %s."):format(text.one_line(provider), text.one_line(label)) }
  if result.unusedBecause then
    table.insert(parts, ("It is not used yet: %s."):format(text.one_line(result.unusedBecause, MAX_WORDS)))
  end
  if result.check then
    local note = result.check.state == "taken" and "" or "Note: "
    table.insert(parts, note .. text.one_line(result.check.words, MAX_WORDS))
  end
  return table.concat(parts, " ")
end

--- Asks for a key with a hidden prompt, and has the server keep it as an account. One that the vendor refuses is kept
--- if the user says so.
---@param list azimuth.AuthListResult
---@param provider string
---@param label? string
local function keep_key(list, provider, label)
  local keep
  ---@param name string
  ---@param key string
  ---@param unchecked? boolean
  local function send(name, key, unchecked)
    if not unchecked then
      say(("asking %s about the key…"):format(text.one_line(provider)))
    end
    local params = { provider = provider, label = name, key = key, unchecked = unchecked }
    client.request(requests.auth_keep, params, function(err, result)
      if not err or err.code ~= protocol.error_codes.notConfirmed then
        return failed(err) or say(M.kept(provider, name, result))
      end
      say(text.one_line(err.message, MAX_WORDS), vim.log.levels.WARN)
      local prompt = ("Azimuth: %s refuses the key."):format(text.one_line(provider))
      vim.ui.select({ "Try again", "Keep it anyway" }, { prompt = prompt }, function(choice)
        if choice == "Try again" then
          keep(name)
        elseif choice then
          send(name, key, true)
        end
      end)
    end)
  end
  keep = function(name)
    local prompt = "Key for %s, kept as %s in the file of accounts, which is not encrypted: "
    local key = vim.trim(vim.fn.inputsecret(prompt:format(text.one_line(provider), text.one_line(name))))
    vim.cmd.redraw()
    if key == "" then
      return
    end
    send(name, key)
  end
  if label then
    keep(label)
  else
    name_for(provider, list.accounts, keep)
  end
end

--- Keeps a key for a provider, which is asked for if it is not named.
---@param list azimuth.AuthListResult
---@param provider? string
---@param label? string
local function keep_for(list, provider, label)
  if provider then
    return keep_key(list, provider, label)
  end
  vim.ui.select(list.keyProviders, {
    prompt = "Azimuth: keep the key of which provider?",
    kind = "azimuth.provider",
    format_item = function(item)
      return ("%s (%s)"):format(text.one_line(item.title), text.one_line(item.provider))
    end,
  }, function(item)
    if item then
      keep_key(list, item.provider)
    end
  end)
end

--- The status of one of several keys and accounts.
---@param member azimuth.KeyMember
---@return string
local function standing(member)
  if not member.restsUntil then
    return member.inUse and "in use" or "ready"
  end
  local time = require("azimuth.fold.switch").when(member.restsUntil)
  if member.reason == "unauthorized" then
    return "refused by the provider, tried again at " .. time
  end
  local why = member.reason == "quota_used_up" and "its quota is used up" or "it has reached a limit"
  return ("%s; rests until %s"):format(why, time)
end

---@class azimuth.AccountChoice
---@field words string
---@field run fun()

--- The choices: the accounts, the keys from elsewhere, and to add one.
---@param list azimuth.AuthListResult
---@return azimuth.AccountChoice[]
function M.choices(list)
  ---@type azimuth.AccountChoice[]
  local items = {}
  local function member_of(account)
    for _, key in ipairs(list.keys) do
      for _, member in ipairs(key.provider == account.provider and key.members or {}) do
        if member.isAccount and member.name == account.label then
          return member
        end
      end
    end
  end
  for _, account in ipairs(list.accounts) do
    local member = member_of(account)
    local in_use = vim.iter(list.keys):any(function(key)
      return key.provider == account.provider and key.label == account.label
    end)
    local kind = account.kind == "key" and "key" or "signed in" .. (account.name and " as " .. account.name or "")
    local status = account.ended and "ended; choose it to sign in again"
      or member and standing(member)
      or in_use and "in use"
      or "not in use"
    table.insert(items, {
      words = text.one_line(("%s: %s, %s, %s"):format(account.provider, account.label, kind, status), 120),
      run = function()
        if account.ended then
          sign_in(list, account.provider, account.label)
        else
          sign_out(account.provider, account.label)
        end
      end,
    })
  end
  for _, key in ipairs(list.keys) do
    for _, member in ipairs(key.members or {}) do
      if not member.isAccount then
        table.insert(items, {
          words = text.one_line(("%s: key %s, %s"):format(key.provider, member.name, standing(member)), 120),
          run = function()
            say(("the key %s of %s comes from the environment; remove it there."):format(member.name, key.provider))
          end,
        })
      end
    end
    if not key.label and not key.members then
      table.insert(items, {
        words = text.one_line(("%s: key from %s, in use"):format(key.provider, key.source), 120),
        run = function()
          say(("the key of %s comes from %s; remove it there."):format(key.provider, key.source))
        end,
      })
    end
  end
  local function sign_in_anywhere()
    sign_in(list)
  end
  table.insert(items, { words = "Sign in…", run = sign_in_anywhere })
  table.insert(items, {
    words = "Add an API key as an account…",
    run = function()
      keep_for(list)
    end,
  })
  table.insert(items, {
    words = "Add an API key for Neovim…",
    run = function()
      require("azimuth.keys").ask()
    end,
  })
  return items
end

---@param list azimuth.AuthListResult
local function choose(list)
  vim.ui.select(M.choices(list), {
    prompt = "Azimuth: accounts",
    kind = "azimuth.account",
    format_item = function(item)
      return item.words
    end,
  }, function(item)
    if item then
      item.run()
    end
  end)
end

--- Runs `:Azimuth accounts [login|keep|logout] [{provider}] [{label}]`.
---@param words string[]
function M.command(words)
  local act, provider, label = words[2], words[3], words[4]
  if act == "logout" then
    if provider then
      sign_out(provider, label)
    else
      say("whose account? :Azimuth accounts logout {provider} [{label}]", vim.log.levels.WARN)
    end
    return
  end
  if act and act ~= "login" and act ~= "keep" then
    say((":Azimuth accounts takes login, keep or logout, not %q."):format(act), vim.log.levels.ERROR)
    return
  end
  client.request(requests.auth_list, {}, function(err, list)
    if not failed(err) then
      if act == "keep" then
        keep_for(list, provider, label)
      elseif act then
        sign_in(list, provider)
      else
        choose(list)
      end
    end
  end)
end

return M
