// SPDX-License-Identifier: Apache-2.0
package dev.steelyard.daytrader7.beans;

import dev.steelyard.bench.database.Database;
import dev.steelyard.daytrader7.LoginException;
import dev.steelyard.daytrader7.MarketSummary;
import dev.steelyard.daytrader7.OrderMode;
import dev.steelyard.daytrader7.Prices;
import dev.steelyard.daytrader7.RunStatistics;
import dev.steelyard.daytrader7.TradeConfig;
import dev.steelyard.daytrader7.TradeException;
import dev.steelyard.daytrader7.direct.TradeDirect;
import dev.steelyard.daytrader7.entities.Account;
import dev.steelyard.daytrader7.entities.AccountProfile;
import dev.steelyard.daytrader7.entities.Holding;
import dev.steelyard.daytrader7.entities.Quote;
import dev.steelyard.daytrader7.entities.TradeOrder;
import dev.steelyard.daytrader7.messages.Messages;
import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.persistence.LockModeType;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.criteria.CriteriaBuilder;
import jakarta.persistence.criteria.CriteriaQuery;
import jakarta.persistence.criteria.Root;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.List;

/**
 * The operations through Persistence, each in one transaction of the container.
 *
 * <p>Nothing is fetched by joins and nothing is kept between transactions: which statements an
 * operation sends is part of the workload.
 */
@Stateless
public class TradeBean implements TradeLocal {

  private static final Timestamp BEING_SOLD = new Timestamp(0);

  @PersistenceContext(unitName = "daytrader")
  private EntityManager entities;

  @EJB private MarketSummaryBean summary;
  @EJB private QuotePublisher publisher;
  @Inject private Database database;
  @Inject private Messages messages;
  @Inject private TradeConfig config;
  @Inject private TradeDirect direct;

  @Override
  public MarketSummary marketSummary() {
    return summary.current();
  }

  @Override
  public TradeOrder buy(String userID, String symbol, double quantity, OrderMode mode) {
    Account account = lockedAccountOf(userID);
    Quote quote = symbol == null ? null : entities.find(Quote.class, symbol);
    if (quote == null) {
      throw new TradeException("There is no stock " + symbol + ".");
    }
    TradeOrder order = newOrder(account, quote, null, TradeOrder.BUY, quantity);
    account.setBalance(account.getBalance().subtract(Prices.costOfBuy(quote.getPrice(), quantity)));
    return process(order, mode);
  }

  @Override
  public TradeOrder sell(String userID, int holdingID, OrderMode mode) {
    Account account = lockedAccountOf(userID);
    Holding holding = entities.find(Holding.class, holdingID, LockModeType.PESSIMISTIC_WRITE);
    // An account that this transaction has already read costs no statement here.
    if (holding == null
        || holding.getAccount() != account
        || holding.getPurchaseDate().equals(BEING_SOLD)) {
      TradeOrder order = newOrder(null, null, null, TradeOrder.SELL, 0);
      order.setOrderStatus(TradeOrder.CANCELLED);
      order.setCompletionDate(order.getOpenDate());
      return order;
    }
    Quote quote = holding.getQuote();
    TradeOrder order = newOrder(account, quote, holding, TradeOrder.SELL, holding.getQuantity());
    holding.setPurchaseDate(BEING_SOLD);
    account.setBalance(
        account.getBalance().add(Prices.proceedsOfSell(quote.getPrice(), holding.getQuantity())));
    return process(order, mode);
  }

  private Account accountOf(String userID) {
    return profileOf(userID).getAccount();
  }

  /** The account whose balance is to change: nobody else may change it before this is done. */
  private Account lockedAccountOf(String userID) {
    return entities
        .createQuery("SELECT a FROM Account a WHERE a.profile = :profile", Account.class)
        .setParameter("profile", profileOf(userID))
        .setLockMode(LockModeType.PESSIMISTIC_WRITE)
        .getSingleResult();
  }

  private AccountProfile profileOf(String userID) {
    AccountProfile profile = userID == null ? null : entities.find(AccountProfile.class, userID);
    if (profile == null) {
      throw new LoginException("There is no user " + userID + ".");
    }
    return profile;
  }

  private TradeOrder newOrder(
      Account account, Quote quote, Holding holding, String type, double quantity) {
    BigDecimal price = quote == null ? BigDecimal.ZERO : Prices.cents(quote.getPrice());
    TradeOrder order =
        new TradeOrder(type, quantity, price, Prices.FEE, now(), account, quote, holding);
    entities.persist(order);
    return order;
  }

  private TradeOrder process(TradeOrder order, OrderMode mode) {
    if (mode == OrderMode.SYNC) {
      complete(order);
    } else if (mode == OrderMode.ASYNC_2PHASE) {
      queueOrder(order.getOrderID(), true);
    }
    return order;
  }

  @Override
  public void queueOrder(int orderID, boolean twoPhase) {
    messages.newOrder(orderID, twoPhase, false);
  }

  @Override
  public TradeOrder completeOrder(int orderID, boolean twoPhase) {
    TradeOrder order = entities.find(TradeOrder.class, orderID);
    if (order == null) {
      throw new TradeException("There is no order " + orderID + ".");
    }
    complete(order);
    return order;
  }

  private void complete(TradeOrder order) {
    if (!order.isOpen()) {
      throw new TradeException(
          "Order " + order.getOrderID() + " is " + order.getOrderStatus() + " already.");
    }
    Account account = order.getAccount();
    String userID = account.getProfile().getUserID();
    if (order.isBuy()) {
      Holding holding =
          new Holding(order.getQuantity(), order.getPrice(), now(), account, order.getQuote());
      entities.persist(holding);
      order.setHolding(holding);
    } else {
      Holding holding = order.getHolding();
      if (holding == null) {
        throw new TradeException("Order " + order.getOrderID() + " has nothing to sell.");
      }
      entities.remove(holding);
      order.setHolding(null);
    }
    order.setOrderStatus(TradeOrder.CLOSED);
    order.setCompletionDate(now());
    orderCompleted(userID, order.getOrderID());
  }

  @Override
  public List<TradeOrder> orders(String userID) {
    return entities
        .createQuery(
            "SELECT o FROM TradeOrder o WHERE o.account.profile.userID = :user", TradeOrder.class)
        .setParameter("user", userID)
        .getResultList();
  }

  @Override
  public List<TradeOrder> closedOrders(String userID) {
    CriteriaBuilder builder = entities.getCriteriaBuilder();
    CriteriaQuery<TradeOrder> query = builder.createQuery(TradeOrder.class);
    Root<TradeOrder> order = query.from(TradeOrder.class);
    query.where(
        builder.equal(order.get("orderStatus"), TradeOrder.CLOSED),
        builder.equal(order.get("account").get("profile").get("userID"), userID));
    List<TradeOrder> closed = entities.createQuery(query.select(order)).getResultList();
    if (config.longRun()) {
      closed.forEach(entities::remove);
    } else {
      closed.forEach(each -> each.setOrderStatus(TradeOrder.COMPLETED));
    }
    return closed;
  }

  @Override
  public Quote quote(String symbol) {
    return entities.find(Quote.class, symbol);
  }

  @Override
  public Quote updateQuotePriceVolume(
      String symbol, BigDecimal changeFactor, double sharesTraded, boolean publish) {
    Quote quote =
        (Quote)
            entities
                .createNativeQuery(
                    database.dialect().locked("SELECT * FROM QUOTEEJB WHERE SYMBOL = ?"),
                    Quote.class)
                .setParameter(1, symbol)
                .getSingleResult();
    BigDecimal oldPrice = quote.getPrice();
    BigDecimal factor = Prices.factorFor(oldPrice, changeFactor);
    quote.setPrice(Prices.moved(oldPrice, factor));
    quote.setChange(quote.getPrice().subtract(quote.getOpen()).doubleValue());
    quote.setVolume(quote.getVolume() + sharesTraded);
    if (publish) {
      publisher.publish(quote, oldPrice, factor, sharesTraded);
    }
    return quote;
  }

  @Override
  public List<Holding> holdings(String userID) {
    CriteriaBuilder builder = entities.getCriteriaBuilder();
    CriteriaQuery<Holding> query = builder.createQuery(Holding.class);
    Root<Holding> holding = query.from(Holding.class);
    query.where(builder.equal(holding.get("account").get("profile").get("userID"), userID));
    return entities.createQuery(query.select(holding)).getResultList();
  }

  @Override
  public Account accountData(String userID) {
    return accountOf(userID);
  }

  @Override
  public AccountProfile accountProfileData(String userID) {
    return profileOf(userID);
  }

  @Override
  public AccountProfile updateAccountProfile(AccountProfile changed) {
    AccountProfile profile = profileOf(changed.getUserID());
    profile.setPassword(changed.getPassword());
    profile.setFullName(changed.getFullName());
    profile.setAddress(changed.getAddress());
    profile.setEmail(changed.getEmail());
    profile.setCreditCard(changed.getCreditCard());
    return profile;
  }

  @Override
  public Account login(String userID, String password) {
    AccountProfile profile = profileOf(userID);
    Account account = profile.getAccount();
    if (!profile.getPassword().equals(password)) {
      throw new LoginException("The password of " + userID + " is another one.");
    }
    account.setLastLogin(now());
    account.setLoginCount(account.getLoginCount() + 1);
    return account;
  }

  @Override
  public void logout(String userID) {
    Account account = accountOf(userID);
    account.setLogoutCount(account.getLogoutCount() + 1);
  }

  @Override
  public Account register(AccountProfile profile, BigDecimal openBalance) {
    if (entities.find(AccountProfile.class, profile.getUserID()) != null) {
      throw new TradeException("There is a user " + profile.getUserID() + " already.");
    }
    Account account = new Account(now(), openBalance, profile);
    entities.persist(profile);
    entities.persist(account);
    return account;
  }

  @Override
  public RunStatistics resetTrade() {
    return direct.resetTrade();
  }

  private static Timestamp now() {
    return new Timestamp(System.currentTimeMillis());
  }
}
